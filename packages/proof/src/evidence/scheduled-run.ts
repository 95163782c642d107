import { fromUtf8 } from "../bytes.ts";
import { members, nullOr, oneOf, requireKnownShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { timestamp, typeId } from "../shapes.ts";
import { RUNS_IN_FILE } from "./pack-files.ts";

/**
 * One scheduled time and its result: a line of runs/. A restore test is `passed` or `failed` as its
 * first counting receipt says. A backup is `done`.
 */
export interface ScheduledRun {
  source_id: string;
  kind: "backup" | "restore_test";
  scheduled_at: string;
  deadline_at: string;
  /**
   * `waiting`: the deadline had not passed at the export. `withdrawn`: the source was removed
   * first.
   */
  status: "passed" | "failed" | "done" | "missed" | "waiting" | "withdrawn";
  /**
   * Null for a backup that was registered without a receipt. For that there is only the service's
   * word.
   */
  receipt_id: string | null;
  /** For a missed run: the log entry that reports it. Only the first run of an incident has one. */
  event_id: string | null;
}

/**
 * The most that a host's clock may lag behind the service's, in milliseconds. `attestore doctor`
 * warns long before.
 */
export const CLOCK_BEHIND_MS = 300_000;

/**
 * Whether a receipt counts for a run. It must be recorded between the run's time and its deadline,
 * and the work must not have finished before the run's time. A receipt that was queued on its host
 * while the service was away belongs to an earlier run, whenever it arrives. Times are milliseconds
 * since 1970.
 */
export function countsForRun(
  { scheduled, deadline }: { scheduled: number; deadline: number },
  { recorded, finished }: { recorded: number; finished: number },
): boolean {
  return recorded >= scheduled && recorded <= deadline && finished >= scheduled - CLOCK_BEHIND_MS;
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

/** Formats a file of runs/: a line of JSON for each, which parseRuns accepts. */
export function formatRuns(runs: readonly ScheduledRun[]): string {
  return runs.map((run) => `${JSON.stringify(run)}\n`).join("");
}

/** Parses a file of runs/. Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`. */
export function parseRuns(source: Uint8Array): ScheduledRun[] {
  const lines = fromUtf8(source).split("\n");
  if (lines.pop() !== "" || lines.length > RUNS_IN_FILE)
    throw new ProofError(
      "malformed_evidence",
      `the file has more than ${RUNS_IN_FILE} lines, or its last line has no line feed`,
    );
  return lines.map((line) => {
    const value = parseJson(line);
    requireKnownShape(value, RUN, "malformed_evidence", "a scheduled run");
    return value as unknown as ScheduledRun;
  });
}
