import {
  canonicalJson,
  type EventBundle,
  type PackHeader,
  type PackPolicy,
  type ScheduledRun,
  type SourcePolicy,
  plural,
} from "@attestore/proof";
import { GrowingNumbers, sortedNumbers } from "../../compact/growing-numbers.ts";
import { Numbering } from "../../compact/numbering.ts";
import type { CheckedEvent } from "../entries/check-event.ts";
import { cronTimes, NotUnderstood } from "./cron-times.ts";
import type { Findings } from "../findings.ts";
import type { ListedRuns } from "./listed-runs.ts";

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
  manifest: PackHeader;
  /**
   * Whether the pack's entries go up to the export, so that policy.json must agree with the last of
   * them.
   */
  endsWithExport: boolean;
  policy: PackPolicy;
  changes: PolicyChanges;
  /** Reads a checked event again, by its file's number. */
  eventAt: (file: number) => Promise<EventBundle>;
  runs: ListedRuns;
}

/** Which events of the log changed the policy of each source: 13 bytes of each. */
export class PolicyChanges {
  readonly #from: string;
  readonly #sources = new Numbering();
  readonly #source = GrowingNumbers.uint32();
  readonly #file = GrowingNumbers.uint32();
  readonly #index = GrowingNumbers.float64();
  readonly #isEarlier = GrowingNumbers.bytes();
  #order: Uint32Array | null = null;

  /** `from` is the period's beginning. */
  constructor(from: string) {
    this.#from = from;
  }

  add({ file, logIndex, recordedAt, isEarlier, bundle: { leaf, event } }: CheckedEvent): void {
    if (leaf.kind !== "source_configured" || event.source_id === undefined) return;
    // From after the pack's own entries: it says nothing of the period.
    if (isEarlier && recordedAt >= this.#from) return;
    this.#source.push(this.#sources.add(event.source_id));
    this.#file.push(file);
    this.#index.push(logIndex);
    this.#isEarlier.push(isEarlier ? 1 : 0);
  }

  /** The files of a source's events in log order. Once all were added. */
  *of(id: string): Generator<{ file: number; isEarlier: boolean }> {
    const source = this.#sources.get(id);
    if (source === undefined) return;
    this.#order ??= sortedNumbers(
      this.#source.length,
      (a, b) => this.#source.at(a) - this.#source.at(b) || this.#index.at(a) - this.#index.at(b),
    );
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#source.at(this.#order[middle] ?? 0) < source) low = middle + 1;
      else high = middle;
    }
    for (; low < this.#order.length; low += 1) {
      const n = this.#order[low] ?? 0;
      if (this.#source.at(n) !== source) return;
      yield { file: this.#file.at(n), isEarlier: this.#isEarlier.at(n) === 1 };
    }
  }
}

/**
 * Computes the scheduled times again from the schedules in the log, and looks for each among the
 * runs. So a missed run cannot be left out unnoticed, even if the log has no entry for it. Times
 * near a change of the clocks are not checked.
 */
export async function checkSchedules(findings: Findings, packed: Packed): Promise<void> {
  const { manifest, policy, runs } = packed;
  const from = Date.parse(manifest.period.from);
  const to = Math.min(Date.parse(manifest.period.to), Date.parse(manifest.exported_at) - LATE_MS);
  let expected = 0;
  const unknown: string[] = [];
  for (const source of policy.sources) {
    const { inForce, isWhole, last } = await schedulesOf(source, packed);
    if (packed.endsWithExport && last !== null) requireSame(findings, source, last);
    if (!isWhole) unknown.push(source.slug);
    try {
      for (const kind of ["backup", "restore_test"] as const)
        for (const time of timesOf(inForce, kind, from, to)) {
          expected += 1;
          if (expected > MAX_TIMES) throw new NotUnderstood("more scheduled times than can be recomputed");
          if (!runs.has({ source_id: source.id, kind }, time))
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

interface LoggedSchedules {
  inForce: InForce[];
  /**
   * Whether they cover the whole period: the first change is from before the pack's own entries, or
   * no schedule was in force until then.
   */
  isWhole: boolean;
  /** The last change. */
  last: EventBundle | null;
}

/** The source's schedules in the log. */
async function schedulesOf(source: SourcePolicy, { changes, eventAt }: Packed): Promise<LoggedSchedules> {
  const inForce: InForce[] = [];
  let isWhole = source.schedule === null;
  let last: EventBundle | null = null;
  for (const { file, isEarlier } of changes.of(source.id)) {
    const change = await eventAt(file);
    if (last === null) {
      const before = memberOf(change, "before");
      const scheduleBefore = scheduleIn("schedule" in before ? before : memberOf(change, "after"));
      isWhole = isEarlier || scheduleBefore === null;
    }
    last = change;
    inForce.push({
      since: Date.parse(change.event.occurred_at),
      schedule: scheduleIn(memberOf(change, "after")),
    });
  }
  if (last !== null && source.removed_at !== null)
    inForce.push({ since: Date.parse(source.removed_at), schedule: null });
  return { inForce, isWhole, last };
}

const LOGGED = ["agent_id", "test_agent_id", "name", "schedule", "retention", "objectives"] as const;

/** Checks that policy.json has the values from the log's last change of this source. */
function requireSame(findings: Findings, source: SourcePolicy, last: EventBundle): void {
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
