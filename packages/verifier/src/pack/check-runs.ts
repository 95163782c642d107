import {
  countsForRun,
  type EventBundle,
  type Manifest,
  type PackPolicy,
  parseRuns,
  RUNS_IN_FILE,
  runsFile,
  type ScheduledRun,
  plural,
} from "@attestore/proof";
import type { CheckedEntries } from "./check-entries.ts";
import type { CheckedReceipt } from "./check-receipt.ts";
import { removedSources } from "./check-sources.ts";
import type { Findings } from "./findings.ts";
import { isKeptTest } from "./kept-statement.ts";
import type { PackFiles } from "./pack-files.ts";

const MAX_RUNS_FILE = RUNS_IN_FILE * 1024;
/** How long the service may take to decide about a run after its deadline. */
const DECIDED_MS = 3_600_000;
/** No setting allows a run to take longer than this (ATTESTORE_SCHEDULE_GRACE_S). */
const MAX_GIVEN_MS = 30 * 86_400_000;

/**
 * Checks runs/: every line must agree with the receipts and events, and no missed run in the log
 * may be left out.
 */
export async function checkRuns(
  files: PackFiles,
  findings: Findings,
  entries: CheckedEntries,
  policy: PackPolicy,
  bodiesUntil: string,
): Promise<ScheduledRun[]> {
  const runs = await readRuns(files, findings);
  if (files.isOfLaterVersion) return runs;
  const decide = decider(entries.receipts);
  const removed = removedSources(policy, entries.events, bodiesUntil);
  const removedAt = new Map(policy.sources.map(({ id, removed_at }) => [id, removed_at]));
  let undecided = 0;
  for (const run of runs) {
    const wrong = wrongIn(run, decide(run), {
      manifest: files.manifest,
      bodiesUntil,
      removed,
      events: entries.events,
    });
    if (wrong !== null) findings.fail("runs", `${nameOf(run)} ${wrong}`);
    const openUntil = {
      waiting: files.manifest.exported_at,
      withdrawn: removedAt.get(run.source_id) ?? null,
    };
    if (isOverdue(run, openUntil)) undecided += 1;
  }
  requireTold(findings, runs, entries, files.manifest);
  if (undecided > 0)
    findings.leaveOpen(
      "runs",
      `${plural(undecided, "run is past its deadline", "runs are past their deadline")} without a decision`,
    );
  findings.hold("runs", `${plural(runs.length, "scheduled run")}${timeGiven(runs)}`);
  return runs;
}

/**
 * Whether a run should have been decided: its deadline passed more than an hour before the export,
 * or before its source was removed.
 */
function isOverdue(
  { status, deadline_at }: ScheduledRun,
  openUntil: Record<"waiting" | "withdrawn", string | null>,
): boolean {
  const until = status === "waiting" || status === "withdrawn" ? openUntil[status] : null;
  return until !== null && Date.parse(until) - Date.parse(deadline_at) > DECIDED_MS;
}

/**
 * Says how long runs had to be done. Only the service says so, and what counts as missed depends on
 * it.
 */
function timeGiven(runs: readonly ScheduledRun[]): string {
  if (runs.length === 0) return "";
  let [shortest, longest] = [Infinity, -Infinity];
  for (const { scheduled_at, deadline_at } of runs) {
    const given_s = Math.round((Date.parse(deadline_at) - Date.parse(scheduled_at)) / 1000);
    shortest = Math.min(shortest, given_s);
    longest = Math.max(longest, given_s);
  }
  return `, each with ${shortest === longest ? shortest : `${shortest} to ${longest}`} s from its time`;
}

async function readRuns(files: PackFiles, findings: Findings): Promise<ScheduledRun[]> {
  const paths = files.paths().filter((path) => path.startsWith("runs/"));
  const runs: ScheduledRun[] = [];
  for (const [number] of paths.entries()) {
    const page = await files.parsed("runs", runsFile(number), MAX_RUNS_FILE, parseRuns);
    if (page === null) return runs;
    if (number < paths.length - 1 ? page.length !== RUNS_IN_FILE : page.length === 0)
      findings.fail("runs", `${runsFile(number)} has ${page.length} lines`);
    runs.push(...page);
  }
  for (const [n, run] of runs.entries()) {
    const before = runs[n - 1];
    if (before !== undefined && sortKey(before) >= sortKey(run))
      findings.fail("runs", `${nameOf(run)} is out of order or listed twice`);
  }
  return runs;
}

const sortKey = ({ scheduled_at, source_id, kind }: ScheduledRun): string =>
  `${scheduled_at} ${source_id} ${kind}`;

const nameOf = ({ kind, source_id, scheduled_at }: ScheduledRun): string =>
  `${kind} of ${source_id} at ${scheduled_at}`;

/** Finds the first receipt of the run's kind that counts for it. */
type Decide = (run: ScheduledRun) => CheckedReceipt | null;

function decider(receipts: readonly CheckedReceipt[]): Decide {
  const bySource = Map.groupBy(
    receipts.filter(({ isEarlier }) => !isEarlier),
    ({ statement }) => `${statement.predicate.source_id} ${kindOf(statement)}`,
  );
  // Sort by recording time and not only by id: only an honest service's ids have the same order.
  for (const list of bySource.values())
    list.sort((a, b) => compare(a.recordedAt, b.recordedAt) || compare(a.id, b.id));
  return (run) => {
    const list = bySource.get(`${run.source_id} ${run.kind}`) ?? [];
    for (let at = firstFrom(list, run.scheduled_at); at < list.length; at += 1) {
      const receipt = list[at];
      if (receipt === undefined || receipt.recordedAt > run.deadline_at) return null;
      const { finished_at } = receipt.statement.predicate;
      if (countsForRun(run, { recordedAt: receipt.recordedAt, finished_at })) return receipt;
    }
    return null;
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function kindOf(statement: CheckedReceipt["statement"]): ScheduledRun["kind"] {
  return isKeptTest(statement) ? "restore_test" : "backup";
}

/** Index of the first one recorded at that moment or later. */
function firstFrom(list: readonly CheckedReceipt[], moment: string): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.recordedAt ?? "") < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Known {
  manifest: Manifest;
  bodiesUntil: string;
  /** From `removedSources`: their runs may be withdrawn. */
  removed: ReadonlySet<string>;
  events: ReadonlyMap<string, EventBundle>;
}

function wrongIn(run: ScheduledRun, receipt: CheckedReceipt | null, known: Known): string | null {
  const { kind, scheduled_at, deadline_at, status, receipt_id, event_id } = run;
  const { period } = known.manifest;
  if (scheduled_at < period.from || scheduled_at >= period.to) return "is outside the period";
  const given_ms = Date.parse(deadline_at) - Date.parse(scheduled_at);
  if (given_ms < 0) return "has a deadline before its start";
  if (given_ms > MAX_GIVEN_MS) return `has the deadline ${deadline_at}, which no setting allows`;
  if (deadline_at >= known.bodiesUntil && known.bodiesUntil < known.manifest.exported_at)
    return "may have been decided by something that is not in the pack";
  const expected = receipt === null ? null : statusOf(receipt);
  if (expected !== null)
    return status === expected && receipt_id === receipt?.id && event_id === null
      ? null
      : `is listed as ${status}, but ${receipt?.id} says ${expected}`;
  if (receipt_id !== null)
    return `is listed as decided by ${receipt_id}, which is not the first receipt that counts for it`;
  if (status === "passed" || status === "failed") return `is listed as ${status}, but no receipt says so`;
  if (status === "done" && kind === "restore_test") return "is listed as done, but no receipt says so";
  if (status === "withdrawn" && !known.removed.has(run.source_id))
    return "is listed as withdrawn, but the log does not show that its source was removed";
  if (event_id === null) return null;
  const event = known.events.get(event_id);
  const isTold =
    status === "missed" &&
    event?.leaf.kind === `${kind}_missed` &&
    event.event.source_id === run.source_id &&
    event.event.detail["scheduled_at"] === scheduled_at &&
    event.event.detail["deadline_at"] === deadline_at;
  return isTold ? null : `names ${event_id}, which does not report it as missed`;
}

function statusOf({ statement }: CheckedReceipt): ScheduledRun["status"] {
  return isKeptTest(statement) ? statement.predicate.result : "done";
}

const MISSED = /^(backup|restore_test)_missed$/;

/**
 * Checks that the runs include the missed runs in the log: the first of each incident, and as many
 * of its runs as its entry counts.
 */
function requireTold(
  findings: Findings,
  runs: readonly ScheduledRun[],
  { events, otherEvents }: CheckedEntries,
  { period }: Manifest,
): void {
  const byKey = new Map(runs.map((run) => [sortKey(run), run]));
  for (const { leaf, event } of events.values()) {
    const kind = MISSED.exec(leaf.kind)?.[1];
    const { scheduled_at, runs: count } = event.detail;
    const { source_id } = event;
    if (kind === undefined || otherEvents.has(leaf.id) || source_id === undefined) continue;
    if (typeof scheduled_at !== "string" || scheduled_at < period.from || scheduled_at >= period.to) continue;
    if (!byKey.has(`${scheduled_at} ${source_id} ${kind}`)) {
      findings.fail(
        "runs",
        `${leaf.id} reports a missed ${kind} of ${source_id} at ${scheduled_at}, which the list leaves out`,
      );
      continue;
    }
    if (typeof count !== "number" || leaf.recorded_at >= period.to) continue;
    const listed = runs.filter(
      (run) =>
        run.source_id === source_id &&
        run.kind === kind &&
        run.scheduled_at >= scheduled_at &&
        run.deadline_at <= leaf.recorded_at,
    ).length;
    if (listed < count)
      findings.fail(
        "runs",
        `${leaf.id} reports ${plural(count, "missed run")} of ${source_id}, but ${listed} are listed`,
      );
  }
}
