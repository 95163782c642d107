import { plural } from "@attestore/proof";
import type { BasisEvents } from "../../basis.ts";
import { GrowingNumbers } from "../../compact/growing-numbers.ts";
import type { CheckedEvent } from "./check-event.ts";
import type { Findings } from "../findings.ts";

/** At most this many of an agent's unsigned events are named. */
const MAX_NAMED = 100;

/** Both keys signed the rotation that it contains. */
const SIGNED_WITHIN = "agent_key_rotated";

/** The kinds of events that agents report and sign. */
const REPORTED: ReadonlySet<string> = new Set([
  "backup_failed",
  "restore_failed",
  "attestation_failed",
  "change_accepted",
  "draw_declared",
  "config_changed",
]);

interface Placed {
  id: string;
  logIndex: number;
}

class OfAgent {
  /** Where the log has the first event that it signed. */
  signedFrom = Infinity;
  unsigned = 0;
  /** The first unsigned ones, in log order. */
  named: Placed[] = [];
  /** Of unsigned events of kinds that agents sign: index and file of each. */
  readonly indexes = GrowingNumbers.float64();
  readonly files = GrowingNumbers.uint32();
}

/**
 * Counts whose word each event is: that of an agent that signed it, that of an agent according to
 * the service, or the service's own.
 */
export class UnsignedEvents {
  readonly #agents = new Map<string, OfAgent>();
  #events = 0;
  #signed = 0;

  add({ file, id, logIndex, bundle: { leaf }, signature }: CheckedEvent): void {
    this.#events += 1;
    if (signature !== null) {
      this.#signed += 1;
      const agent = this.#of(leaf.actor_id);
      agent.signedFrom = Math.min(agent.signedFrom, logIndex);
      return;
    }
    if (!leaf.actor_id.startsWith("agent_") || leaf.kind === SIGNED_WITHIN) return;
    const agent = this.#of(leaf.actor_id);
    agent.unsigned += 1;
    // Most come in log order.
    const before = agent.named.findLastIndex((each) => each.logIndex < logIndex);
    if (before + 1 < MAX_NAMED)
      agent.named = agent.named.toSpliced(before + 1, 0, { id, logIndex }).slice(0, MAX_NAMED);
    if (!REPORTED.has(leaf.kind)) return;
    agent.indexes.push(logIndex);
    agent.files.push(file);
  }

  basis(): BasisEvents {
    const agents = [...this.#agents].filter(([, { unsigned }]) => unsigned > 0);
    const unsigned = agents.reduce((sum, [, agent]) => sum + agent.unsigned, 0);
    return {
      signed: this.#signed,
      service: this.#events - this.#signed - unsigned,
      unsigned: agents
        .toSorted(([, a], [, b]) => (a.named[0]?.logIndex ?? 0) - (b.named[0]?.logIndex ?? 0))
        .map(([agent_id, agent]) => ({
          agent_id,
          count: agent.unsigned,
          ids: agent.named.map(({ id }) => id),
        })),
    };
  }

  /**
   * Finds what the log has in an agent's name without the agent's signature. Agents of earlier
   * versions signed no events, so this alone leaves nothing open. An agent that has signed one
   * event signs all of them. `idOf` gives the id of the event in a file.
   */
  check(findings: Findings, count: number, idOf: (file: number) => string): void {
    let invented = 0;
    let first: { logIndex: number; file: number; agentId: string } | null = null;
    for (const [agentId, { signedFrom, indexes, files }] of this.#agents)
      for (let n = 0; n < indexes.length; n += 1) {
        const logIndex = indexes.at(n);
        if (logIndex <= signedFrom) continue;
        invented += 1;
        if (first === null || logIndex < first.logIndex) first = { logIndex, file: files.at(n), agentId };
      }
    if (first !== null)
      findings.leaveOpen(
        "events",
        `${plural(invented, "event is", "events are")} attributed to agents that signed earlier events, but not signed: the service may have invented them. The first is ${idOf(first.file)} of ${first.agentId}: ask the host for its events/`,
      );
    const unsigned = [...this.#agents.values()].reduce((sum, agent) => sum + agent.unsigned, 0);
    const told =
      unsigned === 0
        ? ""
        : `; ${unsigned} of them, attributed to an agent, are not signed: they rest only on the service, as the basis says`;
    findings.hold("events", `${plural(count, "event")}${told}`);
  }

  #of(agentId: string): OfAgent {
    const agent = this.#agents.get(agentId) ?? new OfAgent();
    this.#agents.set(agentId, agent);
    return agent;
  }
}
