import { plural } from "@attestore/proof";
import type { EventBundle } from "@attestore/proof";
import type { BasisEvents } from "../basis.ts";
import type { CheckedEvents } from "./check-event.ts";
import type { Findings } from "./findings.ts";

/** At most this many of an agent's unsigned events are named. */
const MAX_NAMED = 100;

/** Both keys signed the rotation that it contains. */
const SIGNED_WITHIN = "agent_key_rotated";

/**
 * Counts whose word each event is: that of an agent that signed it, that of an agent according to
 * the service, or the service's own.
 */
export function basisOfEvents({ events, signedEvents }: CheckedEvents): BasisEvents {
  const unsigned = unsignedOf(events);
  const byAgent = Map.groupBy(unsigned, ({ leaf }) => leaf.actor_id);
  return {
    signed: signedEvents.length,
    service: events.size - signedEvents.length - unsigned.length,
    unsigned: [...byAgent].map(([agent_id, all]) => ({
      agent_id,
      count: all.length,
      ids: all.slice(0, MAX_NAMED).map(({ leaf }) => leaf.id),
    })),
  };
}

function unsignedOf(events: ReadonlyMap<string, EventBundle>): EventBundle[] {
  return [...events.values()]
    .filter(
      ({ leaf, envelope }) =>
        envelope === undefined && leaf.actor_id.startsWith("agent_") && leaf.kind !== SIGNED_WITHIN,
    )
    .toSorted((a, b) => a.inclusion_proof.log_index - b.inclusion_proof.log_index);
}

/** The kinds of events that agents report and sign. */
const REPORTED: ReadonlySet<string> = new Set([
  "backup_failed",
  "restore_failed",
  "attestation_failed",
  "change_accepted",
  "draw_declared",
  "config_changed",
]);

/**
 * Finds what the log has in an agent's name without the agent's signature. Agents of earlier
 * versions signed no events, so this alone leaves nothing open. An agent that has signed one event
 * signs all of them.
 */
export function checkUnsigned(findings: Findings, { events, signedEvents }: CheckedEvents): string {
  const since = new Map<string, number>();
  for (const { agentId, logIndex } of signedEvents)
    since.set(agentId, Math.min(logIndex, since.get(agentId) ?? Infinity));
  const unsigned = unsignedOf(events);
  const [first, ...others] = unsigned.filter(
    ({ leaf, inclusion_proof }) =>
      REPORTED.has(leaf.kind) && inclusion_proof.log_index > (since.get(leaf.actor_id) ?? Infinity),
  );
  if (first !== undefined)
    findings.leaveOpen(
      "events",
      `${plural(others.length + 1, "event is", "events are")} attributed to agents that signed earlier events, but not signed: the service may have invented them. The first is ${first.leaf.id} of ${first.leaf.actor_id}: ask the host for its events/`,
    );
  return unsigned.length === 0
    ? ""
    : `; ${unsigned.length} of them, attributed to an agent, are not signed: they rest only on the service, as the basis says`;
}
