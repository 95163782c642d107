import { plural } from "@attestore/proof";
import type { BasisKey } from "../../basis.ts";
import type { PinnedKey } from "../../pinned-key.ts";
import type { KnownAgent } from "./read-agents.ts";
import type { Findings } from "../findings.ts";

/** What a key of an agent signed in a pack. */
export interface KeyUse {
  agentId: string;
  fingerprint: string;
  receipts: number;
  events: number;
  /** In the log's order. */
  firstEvent: { id: string; logIndex: number } | null;
}

/**
 * Returns the pack's keys that do not depend on the operator's word: the given ones, and those that
 * an agent's rotations lead to from a given one (each link is checked with the agents). The
 * operator could make an agent with a key of their own and sign anything with it.
 */
export class GivenKeys {
  readonly #accepted = new Map<string, Omit<BasisKey, "receipts">>();
  readonly #agents: ReadonlyMap<string, KnownAgent>;
  readonly #pinned: readonly PinnedKey[];

  constructor(agents: ReadonlyMap<string, KnownAgent>, pinned: readonly PinnedKey[]) {
    this.#agents = agents;
    this.#pinned = pinned;
    for (const agent of agents.values()) {
      const own = agent.keys.flatMap(
        ({ fingerprint }) =>
          pinned.find(
            (each) =>
              each.fingerprint === fingerprint && (each.agentId === null || each.agentId === agent.id),
          ) ?? [],
      );
      const [first] = own;
      if (first === undefined) continue;
      for (const { fingerprint } of agent.keys) {
        const given = own.find((each) => each.fingerprint === fingerprint);
        this.#accepted.set(`${agent.id} ${fingerprint}`, {
          fingerprint,
          agent_id: agent.id,
          from: given?.source.kind ?? "rotation",
          where: given?.source.where ?? first.fingerprint,
        });
      }
    }
  }

  has(agentId: string, fingerprint: string): boolean {
    return this.#accepted.has(`${agentId} ${fingerprint}`);
  }

  /** The keys that signed receipts in the pack, the given ones first. */
  basis(uses: readonly KeyUse[]): BasisKey[] {
    return uses
      .filter(({ receipts }) => receipts > 0)
      .map(({ agentId: agent_id, fingerprint, receipts }) => ({
        ...(this.#accepted.get(`${agent_id} ${fingerprint}`) ?? {
          fingerprint,
          agent_id,
          from: "operator" as const,
          where: null,
        }),
        receipts,
      }))
      .toSorted((a, b) => Number(a.from === "operator") - Number(b.from === "operator"));
  }

  /**
   * Checks that every key that signed something was given, and that no given key is missing from
   * the pack.
   */
  check(
    findings: Findings,
    basis: readonly BasisKey[],
    { periodTo, isWitnessed }: { periodTo: string; isWitnessed: boolean },
  ): void {
    const open = basis.filter(({ from }) => from === "operator");
    const hint = "--key FILE for each, or --keys FILE, from the hosts or the organisation's owner";
    const total = basis.reduce((sum, { receipts }) => sum + receipts, 0);
    if (open.length > 0) {
      const signed = open.reduce((sum, { receipts }) => sum + receipts, 0);
      const named = open.slice(0, 10).map(({ fingerprint, agent_id }) => `${fingerprint} of ${agent_id}`);
      const more = open.length > named.length ? `, and ${open.length - named.length} more` : "";
      findings.leaveOpen(
        "agent_keys",
        `${signed} of ${plural(total, "receipt")} are signed with keys that you did not give, which the operator could have made: ${named.join(", ")}${more}`,
        hint,
      );
    } else if (basis.length === 0 && !isWitnessed)
      findings.leaveOpen(
        "agent_keys",
        "the pack has no receipt, so it rests only on the operator: none of the keys that you gave cosigned its checkpoint",
        "--witness-key VKEY, or --key FILE of an agent that cosigned",
      );
    this.#requireKnown(findings, periodTo);
    findings.hold(
      "agent_keys",
      basis.length === 0
        ? "no receipts; the checkpoint is cosigned by keys that you gave"
        : `${plural(total, "receipt")}, all signed with the ${plural(basis.length, "key")} that you gave or that these lead to`,
    );
  }

  /** Checks that no event was signed with a key that only the operator attributes to an agent. */
  checkEvents(findings: Findings, uses: readonly KeyUse[]): void {
    const others = uses.filter(
      ({ agentId, fingerprint, events }) => events > 0 && !this.has(agentId, fingerprint),
    );
    const [first] = others.toSorted(
      (a, b) => (a.firstEvent?.logIndex ?? Infinity) - (b.firstEvent?.logIndex ?? Infinity),
    );
    const count = others.reduce((sum, { events }) => sum + events, 0);
    if (first !== undefined)
      findings.leaveOpen(
        "events",
        `${plural(count, "event is", "events are")} signed with keys that you did not give, which the operator could have made: the first is ${first.firstEvent?.id}, by ${first.fingerprint} of ${first.agentId}`,
        "--key FILE for each, or --keys FILE, from the hosts or the organisation's owner",
      );
  }

  #requireKnown(findings: Findings, periodTo: string): void {
    const agentOf = new Map(
      [...this.#agents.values()].flatMap(({ id, keys }) => keys.map((key) => [key.fingerprint, id] as const)),
    );
    for (const { fingerprint, agentId, since, source } of this.#pinned) {
      const owner = agentOf.get(fingerprint);
      if (owner !== undefined && agentId !== null && owner !== agentId)
        findings.fail(
          "agent_keys",
          `${fingerprint} belongs to ${agentId} according to ${source.where}, but here it belongs to ${owner}`,
        );
      if (owner !== undefined || (since !== null && since >= periodTo)) continue;
      if (source.kind === "file")
        findings.fail("agent_keys", `no agent in the pack has the key ${fingerprint} that you gave`);
      else
        findings.leaveOpen(
          "agent_keys",
          `no agent in the pack has the key ${fingerprint} of ${source.where}: an agent may have been left out`,
          "add since=DATE after a key that is newer than the pack",
        );
    }
  }
}
