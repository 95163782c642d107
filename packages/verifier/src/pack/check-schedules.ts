import {
  canonicalJson,
  type EventBundle,
  type Manifest,
  type PackPolicy,
  type ScheduledRun,
  type SourcePolicy,
  plural,
} from "@attestore/proof";
import type { CheckedEntries } from "./check-entries.ts";
import { cronTimes, NotUnderstood } from "./cron-times.ts";
import type { Findings } from "./findings.ts";

/**
 * The service may notice a due run some minutes late. So none is expected in the ten minutes before
 * a change of the schedule, or before the export.
 */
const LATE_MS = 600_000;
const MAX_TIMES = 2_000_000;

type Schedule = SourcePolicy["schedule"];

/** A schedule, from `since` (milliseconds since 1970) until the next one begins. */
interface InForce {
  since: number;
  schedule: Schedule;
}

interface Packed {
  manifest: Manifest;
  /**
   * Whether the pack's entries go up to the export, so that policy.json must agree with the last of
   * them.
   */
  endsWithExport: boolean;
  policy: PackPolicy;
  entries: CheckedEntries;
  runs: readonly ScheduledRun[];
}

/**
 * Computes the scheduled times again from the schedules in the log, and looks for each among the
 * runs. So a missed run cannot be left out unnoticed, even if the log has no entry for it. Times
 * near a change of the clocks are not checked.
 */
export function checkSchedules(findings: Findings, packed: Packed): void {
  const { manifest, policy, runs } = packed;
  const listed = new Set(runs.map((run) => `${run.source_id} ${run.kind} ${Date.parse(run.scheduled_at)}`));
  const from = Date.parse(manifest.period.from);
  const to = Math.min(Date.parse(manifest.period.to), Date.parse(manifest.exported_at) - LATE_MS);
  let expected = 0;
  const unknown: string[] = [];
  for (const source of policy.sources) {
    if (packed.endsWithExport) requireLastChange(findings, source, packed);
    const { inForce, isWhole } = schedulesOf(source, packed);
    if (!isWhole) unknown.push(source.slug);
    try {
      for (const kind of ["backup", "restore_test"] as const)
        for (const time of timesOf(inForce, kind, from, to)) {
          expected += 1;
          if (expected > MAX_TIMES) throw new NotUnderstood("more scheduled times than can be recomputed");
          if (!listed.has(`${source.id} ${kind} ${time}`))
            findings.fail(
              "schedules",
              `${kind} of ${source.id} at ${new Date(time).toISOString()} is not among the runs`,
            );
        }
    } catch (error) {
      if (!(error instanceof NotUnderstood)) throw error;
      unknown.push(source.slug);
    }
  }
  if (unknown.length > 0)
    findings.leaveAside(
      "schedules",
      `${plural(expected, "scheduled time")} recomputed; the schedules of ${plural(unknown.length, "source")} at that time are unknown: ${unknown.slice(0, 10).join(", ")}`,
    );
  findings.hold(
    "schedules",
    `${plural(expected, "time")} recomputed from the schedules, and each is among the runs`,
  );
}

/**
 * The source's schedules in the log. `isWhole` if they cover the whole period: the first change is
 * from before the pack's own entries, or no schedule was in force until then.
 */
function schedulesOf(source: SourcePolicy, { entries }: Packed): { inForce: InForce[]; isWhole: boolean } {
  const changes = [...entries.events.values()]
    .filter(({ leaf, event }) => leaf.kind === "source_configured" && event.source_id === source.id)
    .toSorted((a, b) => a.inclusion_proof.log_index - b.inclusion_proof.log_index);
  const [first] = changes;
  if (first === undefined) return { inForce: [], isWhole: source.schedule === null };
  const inForce = changes.map((change) => ({
    since: Date.parse(change.event.occurred_at),
    schedule: scheduleIn(memberOf(change, "after")),
  }));
  if (source.removed_at !== null) inForce.push({ since: Date.parse(source.removed_at), schedule: null });
  const before = memberOf(first, "before");
  const isKnownBefore = entries.otherEvents.has(first.leaf.id);
  const scheduleBefore = scheduleIn("schedule" in before ? before : memberOf(first, "after"));
  return { inForce, isWhole: isKnownBefore || scheduleBefore === null };
}

const LOGGED = ["agent_id", "test_agent_id", "name", "schedule", "retention", "objectives"] as const;

/** Checks that policy.json has the values from the log's last change of this source. */
function requireLastChange(findings: Findings, source: SourcePolicy, { entries }: Packed): void {
  const last = [...entries.events.values()]
    .filter(({ leaf, event }) => leaf.kind === "source_configured" && event.source_id === source.id)
    .toSorted((a, b) => a.inclusion_proof.log_index - b.inclusion_proof.log_index)
    .at(-1);
  if (last === undefined) return;
  const after = memberOf(last, "after");
  for (const name of LOGGED)
    if (canonicalJson(after[name] ?? null) !== canonicalJson(source[name]))
      findings.fail(
        "schedules",
        `the ${name} of ${source.slug} in policy.json differs from the one in ${last.leaf.id}`,
      );
}

function memberOf({ event }: EventBundle, name: string): Record<string, unknown> {
  const value = event.detail[name];
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function scheduleIn(policy: Record<string, unknown>): Schedule {
  const schedule = policy["schedule"];
  return typeof schedule === "object" && schedule !== null ? (schedule as Schedule) : null;
}

function* timesOf(
  schedules: readonly InForce[],
  kind: ScheduledRun["kind"],
  from: number,
  to: number,
): Generator<number> {
  const parts = merged(schedules, kind);
  for (const [n, { since, cron, zone }] of parts.entries()) {
    const until = (parts[n + 1]?.since ?? Infinity) - LATE_MS;
    if (cron === null) continue;
    yield* cronTimes(cron, zone, Math.max(from, since + 1), Math.min(to, until));
  }
}

interface Part {
  since: number;
  cron: string | null;
  zone: string;
}

/**
 * Leaves out changes that keep this kind's times, so that the times shortly before them are
 * expected too.
 */
function merged(schedules: readonly InForce[], kind: ScheduledRun["kind"]): Part[] {
  const parts: Part[] = [];
  for (const { since, schedule } of schedules) {
    const cron = (kind === "backup" ? schedule?.backup_cron : schedule?.restore_test_cron) ?? null;
    const zone = schedule?.timezone ?? "UTC";
    const last = parts.at(-1);
    if (last === undefined || last.cron !== cron || (cron !== null && last.zone !== zone))
      parts.push({ since, cron, zone });
  }
  return parts;
}
