import {
  type EventBundle,
  type PackHeader,
  type PackPolicy,
  parseRuns,
  RUNS_IN_FILE,
  runsFile,
  type ScheduledRun,
  plural,
} from "@attestore/proof";
import { Findings } from "../findings.ts";
import { ListedRuns } from "./listed-runs.ts";
import type { PackFiles } from "../files/pack-files.ts";
import type { Decision, RunDecisions } from "./run-decisions.ts";

const MAX_RUNS_FILE = RUNS_IN_FILE * 1024;
/** How long the service may take to decide about a run after its deadline. */
const DECIDED_MS = 3_600_000;
/** No setting allows a run to take longer than this (ATTESTORE_SCHEDULE_GRACE_S). */
const MAX_GIVEN_MS = 30 * 86_400_000;

/** What the pack's entries say about its runs. */
export interface RunEvidence {
  decisions: Pick<RunDecisions, "of">;
  /** From `RemovedSources`: their runs may be withdrawn. */
  removed: ReadonlySet<string>;
  /** The events of the period that report missed runs. */
  missed: () => AsyncIterable<EventBundle> | Iterable<EventBundle>;
  /** A valid event of the pack. */
  event: (id: string) => Promise<EventBundle | undefined>;
  /** The id of what is in a file. */
  idOf: (file: number) => string;
}

/**
 * Checks runs/: every line must agree with the receipts and events, and no missed run in the log
 * may be left out. `see` gets each run, in their order.
 */
export async function checkRuns(
  files: PackFiles,
  findings: Findings,
  evidence: RunEvidence,
  { policy, bodiesUntil }: { policy: PackPolicy; bodiesUntil: string },
  see: (run: ScheduledRun) => void = () => undefined,
): Promise<ListedRuns> {
  const listed = new ListedRuns();
  const { manifest } = files;
  const removedAt = new Map(policy.sources.map(({ id, removed_at }) => [id, removed_at]));
  const given = new GivenTimes();
  const wrongRuns = new Findings();
  let undecided = 0;
  for await (const run of readRuns(files, findings)) {
    const decision = evidence.decisions.of(run);
    const known = { manifest, bodiesUntil, evidence };
    const wrong = wrongIn(run, decision, known) ?? (await wrongEventOf(run, decision, evidence));
    if (wrong !== null) wrongRuns.fail("runs", `${nameOf(run)} ${wrong}`);
    const openUntil = { waiting: manifest.exported_at, withdrawn: removedAt.get(run.source_id) ?? null };
    if (isOverdue(run, openUntil)) undecided += 1;
    given.add(run);
    listed.add(run);
    see(run);
  }
  if (files.isOfLaterVersion) return listed;
  findings.takeOver(wrongRuns);
  for await (const bundle of evidence.missed()) requireTold(findings, listed, bundle, manifest);
  if (undecided > 0)
    findings.leaveOpen(
      "runs",
      `${plural(undecided, "run is past its deadline", "runs are past their deadline")} without a decision`,
    );
  findings.hold("runs", `${plural(listed.count, "scheduled run")}${given.text()}`);
  return listed;
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
class GivenTimes {
  #shortest = Infinity;
  #longest = -Infinity;

  add({ scheduled_at, deadline_at }: ScheduledRun): void {
    const given_s = Math.round((Date.parse(deadline_at) - Date.parse(scheduled_at)) / 1000);
    this.#shortest = Math.min(this.#shortest, given_s);
    this.#longest = Math.max(this.#longest, given_s);
  }

  text(): string {
    const [shortest, longest] = [this.#shortest, this.#longest];
    if (shortest > longest) return "";
    return `, each with ${shortest === longest ? shortest : `${shortest} to ${longest}`} s from its time`;
  }
}

async function* readRuns(files: PackFiles, findings: Findings): AsyncGenerator<ScheduledRun> {
  const count = [...files.below("runs/")].length;
  let before: ScheduledRun | null = null;
  for (let number = 0; number < count; number += 1) {
    const page = await files.parsed("runs", runsFile(number), MAX_RUNS_FILE, parseRuns);
    if (page === null) return;
    if (number < count - 1 ? page.length !== RUNS_IN_FILE : page.length === 0)
      findings.fail("runs", `${runsFile(number)} has ${page.length} lines`);
    for (const run of page) {
      if (before !== null && sortKey(before) >= sortKey(run))
        findings.fail("runs", `${nameOf(run)} is out of order or listed twice`);
      before = run;
      yield run;
    }
  }
}

const sortKey = ({ scheduled_at, source_id, kind }: ScheduledRun): string =>
  `${scheduled_at} ${source_id} ${kind}`;

const nameOf = ({ kind, source_id, scheduled_at }: ScheduledRun): string =>
  `${kind} of ${source_id} at ${scheduled_at}`;

interface Known {
  manifest: PackHeader;
  bodiesUntil: string;
  evidence: Pick<RunEvidence, "removed" | "idOf">;
}

function wrongIn(run: ScheduledRun, decision: Decision | null, known: Known): string | null {
  const { kind, scheduled_at, deadline_at, status, receipt_id, event_id } = run;
  const { manifest, bodiesUntil, evidence } = known;
  const { period } = manifest;
  if (scheduled_at < period.from || scheduled_at >= period.to) return "is outside the period";
  const given_ms = Date.parse(deadline_at) - Date.parse(scheduled_at);
  if (given_ms < 0) return "has a deadline before its start";
  if (given_ms > MAX_GIVEN_MS) return `has the deadline ${deadline_at}, which no setting allows`;
  if (deadline_at >= bodiesUntil && bodiesUntil < manifest.exported_at)
    return "may have been decided by something that is not in the pack";
  if (decision !== null) {
    const id = evidence.idOf(decision.file);
    return status === decision.status && receipt_id === id && event_id === null
      ? null
      : `is listed as ${status}, but ${id} says ${decision.status}`;
  }
  if (receipt_id !== null)
    return `is listed as decided by ${receipt_id}, which is not the first receipt that counts for it`;
  if (status === "passed" || status === "failed") return `is listed as ${status}, but no receipt says so`;
  if (status === "done" && kind === "restore_test") return "is listed as done, but no receipt says so";
  if (status === "withdrawn" && !evidence.removed.has(run.source_id))
    return "is listed as withdrawn, but the log does not show that its source was removed";
  return null;
}

/** Checks that the event of a run that no receipt decided reports it as missed. */
async function wrongEventOf(
  { kind, source_id, scheduled_at, deadline_at, status, event_id }: ScheduledRun,
  decision: Decision | null,
  evidence: RunEvidence,
): Promise<string | null> {
  if (event_id === null || decision !== null) return null;
  const event = await evidence.event(event_id);
  const isTold =
    status === "missed" &&
    event?.leaf.kind === `${kind}_missed` &&
    event.event.source_id === source_id &&
    event.event.detail["scheduled_at"] === scheduled_at &&
    event.event.detail["deadline_at"] === deadline_at;
  return isTold ? null : `names ${event_id}, which does not report it as missed`;
}

const MISSED = /^(backup|restore_test)_missed$/;

/** The kind of the runs that an event of this kind reports as missed; null for other events. */
export function missedKind(kind: string): ScheduledRun["kind"] | null {
  return (MISSED.exec(kind)?.[1] ?? null) as ScheduledRun["kind"] | null;
}

/**
 * Checks that the runs include the missed runs in the log: the first of each incident, and as many
 * of its runs as its entry counts.
 */
function requireTold(
  findings: Findings,
  runs: ListedRuns,
  { leaf, event }: EventBundle,
  { period }: PackHeader,
): void {
  const kind = missedKind(leaf.kind);
  const { scheduled_at, runs: count } = event.detail;
  const { source_id } = event;
  if (kind === null || source_id === undefined) return;
  if (typeof scheduled_at !== "string" || scheduled_at < period.from || scheduled_at >= period.to) return;
  if (!runs.hasTime({ source_id, kind }, scheduled_at)) {
    findings.fail(
      "runs",
      `${leaf.id} reports a missed ${kind} of ${source_id} at ${scheduled_at}, which the list leaves out`,
    );
    return;
  }
  if (typeof count !== "number" || leaf.recorded_at >= period.to) return;
  const listed = runs.countBetween({ source_id, kind }, scheduled_at, leaf.recorded_at);
  if (listed < count)
    findings.fail(
      "runs",
      `${leaf.id} reports ${plural(count, "missed run")} of ${source_id}, but ${listed} are listed`,
    );
}
