import { plainLine, plural } from "@attestore/proof";
import type { KeySource } from "./pinned-key.ts";

/** What a verdict depends on: whose keys, whose clock, and who else saw the log. */
export interface Basis {
  agent_keys: BasisKey[];
  /** `null`: nobody gave the key, and the one in the file is only a claim. */
  log_key: { verifier_key: string | null; from: "given" | "claimed" };
  clock: BasisClock;
  witnesses: { name: string; at: string }[];
  /** How many witnesses `true` needs. */
  witnesses_required: number;
  /** For packs: whose word its events are. */
  events?: BasisEvents;
}

/**
 * How many events their agents signed, how many the service tells of itself; and those in agents'
 * names that nobody signed.
 */
export interface BasisEvents {
  signed: number;
  service: number;
  /** By agent, with the ids of the first hundred: the service could have made them up. */
  unsigned: { agent_id: string; count: number; ids: string[] }[];
}

export interface BasisKey {
  fingerprint: string;
  agent_id: string | null;
  /**
   * `rotation`: a given key leads to it. `operator`: nobody gave it, so it is the operator's word.
   */
  from: KeySource["kind"] | "rotation" | "operator";
  /** The name under which it was given; for a rotation, the key that leads to it. */
  where: string | null;
  /** How many of the receipts here it signed. */
  receipts: number;
}

/** Times of entries are always the service's word. Witnesses date the log by their own clocks. */
export interface BasisClock {
  entries: "service";
  /** RFC 3339: the earliest time by which a requested witness saw the checkpoint. */
  witnessed_by: string | null;
}

const FROM: Record<BasisKey["from"], (where: string) => string> = {
  file: (where) => `given by you (--key ${where})`,
  list: (where) => `given by you (--keys ${where})`,
  signed_list: (where) => `in the owner's signed list (--keys ${where})`,
  rotation: (where) => `by a rotation from ${where}`,
  operator: () => "not given: known only from the operator",
};

/** Entries have the service's times; the earliest witness bounds when they were there. */
export function clockOf(witnesses: Basis["witnesses"]): BasisClock {
  return { entries: "service", witnessed_by: witnesses.map(({ at }) => at).toSorted()[0] ?? null };
}

/** Formats the basis for people. */
export function basisText({
  agent_keys,
  log_key,
  clock,
  witnesses,
  witnesses_required,
  events,
}: Basis): string[] {
  const keys = agent_keys.map(
    ({ fingerprint, agent_id, from, where, receipts }) =>
      `agent key  ${plainLine(fingerprint)}${agent_id === null ? "" : ` of ${plainLine(agent_id)}`}: ${FROM[from](plainLine(where ?? ""))}, signed ${receipts}`,
  );
  const log =
    log_key.verifier_key === null
      ? "none"
      : `${plainLine(log_key.verifier_key)}: ${log_key.from === "given" ? "given by you" : "not given: known only from the operator"}`;
  const seen = witnesses.map(({ name, at }) => `${plainLine(name)} at ${at}`).join(", ");
  return [
    "  rests on:",
    ...(keys.length === 0 ? ["agent key  none"] : keys).map((each) => `    ${each}`),
    `    log key    ${log}`,
    `    clock      the service's, for the times of entries${clock.witnessed_by === null ? "" : `; a witness saw the checkpoint at ${clock.witnessed_by}`}`,
    `    witnesses  ${seen || "none"}${witnesses_required > 0 ? `; ${witnesses_required} needed` : ""}`,
    ...(events === undefined ? [] : eventsText(events)),
  ];
}

/** How many of an agent's unsigned events the text report names. */
const MAX_NAMED = 5;

function eventsText({ signed, service, unsigned }: BasisEvents): string[] {
  return [
    `    events     ${signed} signed by their agents; ${service} the service's own word`,
    ...unsigned.map(({ agent_id, count, ids }) => {
      const named = ids.slice(0, MAX_NAMED).map(plainLine).join(", ");
      const more = count > MAX_NAMED ? `, and ${count - MAX_NAMED} more` : "";
      return `    unsigned   ${plural(count, "event")} attributed to ${plainLine(agent_id)}, which the operator could have invented: ${named}${more}`;
    }),
  ];
}
