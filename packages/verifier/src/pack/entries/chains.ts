import { plural } from "@attestore/proof";
import { GrowingNumbers } from "../../compact/growing-numbers.ts";
import { TextIndex } from "../../compact/text-index.ts";
import type { AgentTimes } from "../agents/check-agents.ts";
import type { CheckedEntry } from "./check-entries.ts";
import type { Findings } from "../findings.ts";

/** A receipt or signed event, as a link of its agent's chain. */
export interface Link {
  file: number;
  logIndex: number;
  agentId: string;
  bodySha256: string;
  /** Of the one before; null if this one begins a chain. */
  previousSha256: string | null;
  keyFingerprint: string;
  isEarlier: boolean;
}

/** Null for an event that nobody signed. */
export function linkOf(entry: CheckedEntry): Link | null {
  const { file, logIndex, isEarlier } = entry;
  if ("statement" in entry) {
    const { statement, bodySha256, keyFingerprint } = entry;
    const { agent_id: agentId, previous_receipt_sha256: previousSha256 } = statement.predicate;
    return { file, logIndex, agentId, bodySha256, previousSha256, keyFingerprint, isEarlier };
  }
  const { bundle, signature } = entry;
  const { actor_id: agentId, body_sha256: bodySha256 } = bundle.leaf;
  return signature === null ? null : { file, logIndex, agentId, bodySha256, ...signature, isEarlier };
}

/** The newest link of an agent. Agents are numbered in the order of their first links. */
interface Newest {
  agent: number;
  bodySha256: string;
}

/**
 * Checks the chains: each receipt and signed event names its agent's previous one by SHA-256. If
 * something was signed and never logged, its successor has a missing predecessor: the service may
 * have refused it, or the agent lost it. Also checks that nobody signed before being attached or
 * after being revoked.
 *
 * Memory has 16 bytes of each link, and more only of those that do not follow right on the one
 * before.
 */
export class Chains {
  readonly #idOf: (file: number) => string;
  readonly #newest = new Map<string, Newest>();
  readonly #keys = new Map<string, { agentId: string; fingerprint: string; number: number }>();
  readonly #links = {
    key: GrowingNumbers.uint32(),
    index: GrowingNumbers.float64(),
    file: GrowingNumbers.uint32(),
  };
  /** Links whose predecessor was not seen yet, and what they follow on. */
  readonly #open = {
    file: GrowingNumbers.uint32(),
    agent: GrowingNumbers.uint32(),
    wanted: GrowingNumbers.uint32(),
  };
  readonly #wanted = new TextIndex();
  readonly #earlier = new TextIndex();
  #restarts = 0;

  /** `idOf` gives the id of what is in a file. */
  constructor(idOf: (file: number) => string) {
    this.#idOf = idOf;
  }

  /** SHA-256 of what the log has from before the pack. Add them before the links. */
  addEarlier(bodySha256: string): void {
    this.#earlier.set(bodySha256, 0);
  }

  /** Those from before the period first, and the others in log order. */
  add(link: Link): void {
    const { file, agentId, bodySha256, previousSha256: previous, isEarlier } = link;
    this.#addUse(link);
    if (isEarlier) return this.addEarlier(bodySha256);
    const newest = this.#newest.get(agentId);
    const agent = newest?.agent ?? this.#newest.size;
    if (previous === null) this.#restarts += newest === undefined ? 0 : 1;
    else if (previous !== newest?.bodySha256 && !this.#earlier.has(previous)) {
      const wanted = this.#wanted.get(previous) ?? this.#wanted.size;
      this.#wanted.set(previous, wanted);
      this.#open.file.push(file);
      this.#open.agent.push(agent);
      this.#open.wanted.push(wanted);
    }
    this.#newest.set(agentId, { agent, bodySha256 });
  }

  /** Checks that each key was valid where it signed. */
  checkKeys(findings: Findings, { attachedAt, revokedAt, inUseFrom }: AgentTimes): void {
    const keys = [...this.#keys.values()];
    const { key, index, file } = this.#links;
    for (let n = 0; n < index.length; n += 1) {
      const used = keys[key.at(n)];
      if (used === undefined) continue;
      const from = inUseFrom.get(used.fingerprint) ?? attachedAt.get(used.agentId) ?? -1;
      if (index.at(n) < from || index.at(n) > (revokedAt.get(used.agentId) ?? Infinity))
        findings.fail(
          "agents",
          `${this.#idOf(file.at(n))} was signed by ${used.agentId} while its key was not valid`,
        );
    }
  }

  /**
   * `logged` are SHA-256 of all that the log has in the pack's range. As many of them are taken as
   * are needed: none if each link follows right on the one before.
   */
  async check(findings: Findings, logged: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const found = new Uint8Array(this.#wanted.size);
    let missing = found.length;
    if (missing > 0)
      for await (const body of logged) {
        const wanted = this.#wanted.get(body);
        if (wanted === undefined || found[wanted] === 1) continue;
        found[wanted] = 1;
        missing -= 1;
        if (missing === 0) break;
      }
    this.#reportGaps(findings, (wanted) => found[wanted] === 0);
    const restarted = `; ${plural(this.#restarts, "receipt or event starts", "receipts or events start")} a new chain, as happens after a host is set up again`;
    findings.hold("chains", `of ${plural(this.#newest.size, "agent")}${this.#restarts > 0 ? restarted : ""}`);
  }

  #reportGaps(findings: Findings, isMissing: (wanted: number) => boolean): void {
    const { file, agent, wanted } = this.#open;
    let [gaps, first, hasEvent] = [0, -1, false];
    for (let n = 0; n < file.length; n += 1) {
      if (!isMissing(wanted.at(n))) continue;
      gaps += 1;
      if (first === -1) first = n;
      hasEvent ||= this.#idOf(file.at(n)).startsWith("evt_");
    }
    if (first === -1) return;
    const agentId = [...this.#newest.keys()][agent.at(first)];
    const what = hasEvent
      ? plural(gaps, "receipt or event refers", "receipts and events refer")
      : plural(gaps, "receipt refers", "receipts refer");
    findings.leaveOpen(
      "chains",
      `${what} to a predecessor that is not in the log by then; the first is ${this.#idOf(file.at(first))} of ${agentId}: ask the host for its receipts/ and events/`,
    );
  }

  #addUse({ file, logIndex, agentId, keyFingerprint }: Link): void {
    const name = `${agentId} ${keyFingerprint}`;
    const key = this.#keys.get(name) ?? { agentId, fingerprint: keyFingerprint, number: this.#keys.size };
    this.#keys.set(name, key);
    this.#links.key.push(key.number);
    this.#links.index.push(logIndex);
    this.#links.file.push(file);
  }
}
