import type { Manifest, ScheduledRun } from "@attestore/proof";
import type { CheckedLine } from "../outcome.ts";
import type { RangeLeaf } from "./check-range.ts";

/** What of a pack is compared with other packs of the same time. */
export interface Comparable {
  /** Of all that was recorded from the period's beginning up to then the leaves are in `leaves`. */
  bodiesUntil: string;
  leaves: ReadonlyMap<string, RangeLeaf>;
  runs: readonly ScheduledRun[];
}

export interface NamedPack {
  pack: string;
  manifest: Manifest;
  /** Null where not all of it could be read. */
  compared: Comparable | null;
}

/**
 * The service asks for what is due each minute: shortly before an export nothing is expected to be
 * listed.
 */
const LATE_MS = 600_000;
const MAX_NAMED = 10;

/**
 * That of the time which two packs have in common both tell the same: the entries of the log, and
 * what became of each scheduled run.
 */
export function compareOverlaps(packs: readonly NamedPack[]): CheckedLine {
  const line = (result: CheckedLine["result"], detail: string): CheckedLine => ({
    id: "overlaps",
    title: "entries in two packs are the same in both",
    result,
    detail,
    hint: null,
  });
  const differences: string[] = [];
  const unread: string[] = [];
  let compared = 0;
  for (const [n, a] of packs.entries())
    for (const b of packs.slice(n + 1)) {
      const from = later(a.manifest.period.from, b.manifest.period.from);
      if (from >= earlier(a.manifest.period.to, b.manifest.period.to)) continue;
      compared += 1;
      if (a.compared === null || b.compared === null) unread.push(`${a.pack} and ${b.pack}`);
      else differences.push(...entriesOf(a, b, from), ...runsOf(a, b, from));
    }
  if (differences.length > 0) {
    const more = differences.length - MAX_NAMED;
    return line(
      "failed",
      differences.slice(0, MAX_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : ""),
    );
  }
  if (unread.length > 0) return line("not_checked", `some of these could not be read: ${unread.join(", ")}`);
  return line(
    "held",
    compared === 0 ? "no two periods overlap" : `${compared} pairs of packs, entry by entry and run by run`,
  );
}

function entriesOf(a: NamedPack, b: NamedPack, from: string): string[] {
  const until = earlier(a.compared?.bodiesUntil ?? "", b.compared?.bodiesUntil ?? "");
  const found: string[] = [];
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const)
    for (const [id, { index, leaf }] of one.compared?.leaves ?? []) {
      // What was recorded after the other's export is in no pack of it.
      if (leaf.recorded_at < from || leaf.recorded_at >= until) continue;
      if (index >= other.manifest.log.tree_size) continue;
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
    else if (!isSameRun(run, twin))
      found.push(`${key} is ${run.status} in ${a.pack} and ${twin.status} in ${b.pack}`);
  }
  for (const key of inB.keys())
    if (!inA.has(key)) found.push(`${key} is in ${b.pack} but missing from ${a.pack}`);
  return found;
}

/**
 * What was still waiting at one export has been decided by the next; what was decided stays so, and
 * when it had to be done.
 */
function isSameRun(a: ScheduledRun, b: ScheduledRun): boolean {
  if (a.deadline_at !== b.deadline_at) return false;
  if (a.status === "waiting" || b.status === "waiting") return true;
  return a.status === b.status && a.receipt_id === b.receipt_id;
}

const later = (a: string, b: string): string => (a > b ? a : b);
const earlier = (a: string, b: string): string => (a < b ? a : b);
