import { fromUtf8 } from "../bytes.ts";
import { members, nullOr, oneOf, requireKnownShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { timestamp, typeId } from "../shapes.ts";
import { RUNS_IN_FILE } from "./files.ts";

/**
 * A time that a schedule named, and what became of it: a line of runs/. A restore test is `passed` or `failed` as the first
 * receipt of one says that counts for it; a backup is `done`.
 */
export interface ScheduledRun {
  source_id: string;
  kind: "backup" | "restore_test";
  scheduled_at: string;
  deadline_at: string;
  /** `waiting`: its deadline had not come at the export. `withdrawn`: the source was removed before. */
  status: "passed" | "failed" | "done" | "missed" | "waiting" | "withdrawn";
  /** Null for a backup that was registered and has no receipt, which is the service's word alone. */
  receipt_id: string | null;
  /** Of one that was missed: the log's entry that tells of it. Only the first one of an incident has an entry. */
  event_id: string | null;
}

/** So much may a host's clock be behind the service's, milliseconds. `attestore doctor` warns long before. */
export const CLOCK_BEHIND_MS = 300_000;

/**
 * Whether a receipt counts for a run: it was recorded between the run's time and its deadline, and what it tells of did not finish
 * before that time. A receipt that waited on its host while the service was away tells of an earlier run, whenever it comes.
 */
export function countsForRun(
  { scheduled_at, deadline_at }: Pick<ScheduledRun, "scheduled_at" | "deadline_at">,
  { recordedAt, finished_at }: { recordedAt: string; finished_at: string },
): boolean {
  return (
    recordedAt >= scheduled_at &&
    recordedAt <= deadline_at &&
    Date.parse(finished_at) >= Date.parse(scheduled_at) - CLOCK_BEHIND_MS
  );
}

const RUN = members({
  source_id: typeId("src"),
  kind: oneOf("backup", "restore_test"),
  scheduled_at: timestamp,
  deadline_at: timestamp,
  status: oneOf("passed", "failed", "done", "missed", "waiting", "withdrawn"),
  receipt_id: nullOr(typeId("rcpt")),
  event_id: nullOr(typeId("evt")),
});

export function formatRuns(runs: readonly ScheduledRun[]): string {
  return runs.map((run) => `${JSON.stringify(run)}\n`).join("");
}

/** A file of runs/. Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`. */
export function parseRuns(source: Uint8Array): ScheduledRun[] {
  const lines = fromUtf8(source).split("\n");
  if (lines.pop() !== "" || lines.length > RUNS_IN_FILE)
    throw new ProofError("malformed_evidence", `not at most ${RUNS_IN_FILE} lines of runs`);
  return lines.map((line) => {
    const value = parseJson(line);
    requireKnownShape(value, RUN, "malformed_evidence", "a scheduled run");
    return value as unknown as ScheduledRun;
  });
}
