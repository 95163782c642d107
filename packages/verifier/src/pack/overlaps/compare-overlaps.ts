import type { PackAgent, PackHeader, PackPolicy, ScheduledRun } from "@attestore/proof";
import type { CheckedLine } from "../../outcome.ts";
import type { CheckedGenerations } from "../log/check-generations.ts";
import type { RangeLeaf } from "../files/range-leaves.ts";

/** The parts of a pack that are compared with other packs of the same time. */
export interface Comparable {
  /** `leaves` has the leaves of everything recorded from the period's beginning until then. */
  bodiesUntil: string;
  leaves: ReadonlyMap<string, RangeLeaf>;
  /** The other leaves of the range, except the service's own. */
  otherLeaves: readonly RangeLeaf[];
  runs: readonly ScheduledRun[];
  policy: PackPolicy;
  agents: readonly PackAgent[];
  changes: readonly PolicyChange[];
}

/** A `source_configured` of the log. */
export interface PolicyChange {
  id: string;
  sourceId: string;
  logIndex: number;
  recordedAt: string;
}

export interface NamedPack {
  pack: string;
  manifest: PackHeader;
  /** Null if not all of it could be read. */
  compared: Comparable | null;
  generations: Pick<CheckedGenerations, "rollbacks">;
}

export function generationOf({ generations }: Pick<NamedPack, "generations">): number {
  return generations.rollbacks.length + 1;
}

/**
 * How many entries two packs' logs have in common at most: a log that lost entries goes on with
 * others in their places.
 */
export function commonEntries(a: Pick<NamedPack, "generations">, b: Pick<NamedPack, "generations">): number {
  const [older, newer] = generationOf(a) <= generationOf(b) ? [a, b] : [b, a];
  const since = newer.generations.rollbacks.slice(generationOf(older) - 1);
  return Math.min(...since.map(({ size }) => size), Infinity);
}

/**
 * The service looks for due runs every minute. So shortly before an export, runs may be missing
 * from the list.
 */
const LATE_MS = 600_000;
const MAX_NAMED = 10;

/**
 * Checks that two packs agree on the time that they share: on the log's entries, and on the result
 * of each scheduled run.
 */
export function compareOverlaps(packs: readonly NamedPack[]): CheckedLine {
  const line = (result: CheckedLine["result"], detail: string): CheckedLine => ({
    id: "overlaps",
    title: "entries in two packs are the same in both",
    result,
    detail,
    hint: null,
  });
  const differences = repeatedReceipts(packs);
  const unread: string[] = [];
  let compared = 0;
  let notRuns = 0;
  for (const [n, a] of packs.entries())
    for (const b of packs.slice(n + 1)) {
      const from = later(a.manifest.period.from, b.manifest.period.from);
      if (from >= earlier(a.manifest.period.to, b.manifest.period.to)) continue;
      compared += 1;
      if (a.compared === null || b.compared === null) unread.push(`${a.pack} and ${b.pack}`);
      else {
        differences.push(...entriesOf(a, b, from));
        // What decided a run may have been lost between them, and come again as another entry.
        if (generationOf(a) === generationOf(b)) differences.push(...runsOf(a, b, from));
        else notRuns += 1;
      }
    }
  if (differences.length > 0) {
    const more = differences.length - MAX_NAMED;
    return line(
      "failed",
      differences.slice(0, MAX_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : ""),
    );
  }
  if (unread.length > 0) return line("not_checked", `some of these could not be read: ${unread.join(", ")}`);
  const without =
    notRuns === 0 ? "" : `; ${notRuns} of them without the runs: the log lost entries between the two`;
  return line(
    "held",
    compared === 0
      ? "no two periods overlap"
      : `${compared} pairs of packs, entry by entry and run by run${without}`,
  );
}

/** What an agent signed once is in the log once, unless the log lost it in between. */
function repeatedReceipts(packs: readonly NamedPack[]): string[] {
  const found = new Set<string>();
  for (const ofGeneration of Map.groupBy(packs, generationOf).values()) {
    const ids = new Map<string, string>();
    for (const { compared } of ofGeneration)
      for (const [id, { leaf }] of compared?.leaves ?? []) {
        if (!id.startsWith("rcpt_")) continue;
        const other = ids.get(leaf.body_sha256) ?? id;
        ids.set(leaf.body_sha256, other);
        if (other !== id) found.add(`${id} is ${other} again`);
      }
  }
  return [...found];
}

function entriesOf(a: NamedPack, b: NamedPack, from: string): string[] {
  const until = earlier(a.compared?.bodiesUntil ?? "", b.compared?.bodiesUntil ?? "");
  const found: string[] = [];
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const)
    for (const [id, { index, leaf }] of one.compared?.leaves ?? []) {
      // Entries after an export are not in its pack.
      if (leaf.recorded_at < from || leaf.recorded_at >= until) continue;
      if (index >= other.manifest.log.tree_size || index >= commonEntries(a, b)) continue;
      const twin = other.compared?.leaves.get(id);
      if (twin === undefined)
        found.push(
          `${leaf.kind} ${id} of ${leaf.recorded_at} is in ${one.pack} but missing from ${other.pack}`,
        );
      else if (one === a && (twin.index !== index || twin.leaf.body_sha256 !== leaf.body_sha256))
        found.push(`${id} differs between ${a.pack} and ${b.pack}`);
    }
  return found;
}

const keyOf = ({ scheduled_at, source_id, kind }: ScheduledRun): string =>
  `${kind} of ${source_id} at ${scheduled_at}`;

function runsOf(a: NamedPack, b: NamedPack, from: string): string[] {
  const exported = Math.min(Date.parse(a.manifest.exported_at), Date.parse(b.manifest.exported_at));
  const until = earlier(a.manifest.period.to, b.manifest.period.to);
  const isCommon = ({ scheduled_at }: ScheduledRun): boolean =>
    scheduled_at >= from && scheduled_at < until && Date.parse(scheduled_at) < exported - LATE_MS;
  const listed = ({ compared }: NamedPack): Map<string, ScheduledRun> =>
    new Map((compared?.runs ?? []).filter(isCommon).map((run) => [keyOf(run), run]));
  const [inA, inB] = [listed(a), listed(b)];
  const found: string[] = [];
  for (const [key, run] of inA) {
    const twin = inB.get(key);
    if (twin === undefined) found.push(`${key} is in ${a.pack} but missing from ${b.pack}`);
    else if (
      !isSameRun(run, twin) &&
      !wasOnItsWay(run, twin, { a, b }) &&
      !wasOnItsWay(twin, run, { a: b, b: a })
    )
      found.push(`${key} is ${run.status} in ${a.pack} and ${twin.status} in ${b.pack}`);
  }
  for (const key of inB.keys())
    if (!inA.has(key)) found.push(`${key} is in ${b.pack} but missing from ${a.pack}`);
  return found;
}

/**
 * A run that was still waiting at one export must be decided in the next. A decision never changes,
 * and neither does the deadline.
 */
function isSameRun(a: ScheduledRun, b: ScheduledRun): boolean {
  if (a.deadline_at !== b.deadline_at) return false;
  if (a.status === "waiting" || b.status === "waiting") return true;
  return a.status === b.status && a.receipt_id === b.receipt_id;
}

/**
 * Whether `a` has a run as missed because the receipt that decides it in `b` was on its way to the
 * log: dated before `a` was made, and appended just after.
 */
function wasOnItsWay(
  missed: ScheduledRun,
  decided: ScheduledRun,
  { a, b }: { a: NamedPack; b: NamedPack },
): boolean {
  if (missed.status !== "missed" || decided.receipt_id === null) return false;
  if (missed.deadline_at !== decided.deadline_at) return false;
  const placed = b.compared?.leaves.get(decided.receipt_id);
  if (placed === undefined || placed.index < a.manifest.log.tree_size) return false;
  return Date.parse(a.manifest.exported_at) - Date.parse(placed.leaf.recorded_at) < LATE_MS;
}

const later = (a: string, b: string): string => (a > b ? a : b);
const earlier = (a: string, b: string): string => (a < b ? a : b);
