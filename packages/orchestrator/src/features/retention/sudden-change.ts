import type { RetentionHold } from "@attestore/contract";
import type { Candidate } from "./plan.ts";
import { byTime } from "./keep-rules.ts";

const DAY_MS = 86_400_000;
/** The usual number is measured over this many days before the last one. */
const USUAL_DAYS = 14;
/** A week of daily backups that waited on their host, and one more, are no sudden rise. */
const ALWAYS_ALLOWED = 8;
const TIMES_AS_MANY = 4;
/** The size of the newest backups is the median of this many. */
const NEWEST = 3;

/**
 * The state that somebody accepted: the source's backups up to a moment, and how large the newest
 * were then.
 */
export interface Accepted {
  at: Date | null;
  bytes: number | null;
}

/**
 * Whether a source's backups changed so suddenly that none may be removed before somebody has
 * looked: many more in a day than usual, or the newest less than half the size of one that would be
 * removed. Somebody with an agent's token can only register backups, so the backups to be removed
 * are compared with those that would be left. All times are the service's own.
 */
export function suddenChange(
  { backups, going }: { backups: readonly Candidate[]; going: readonly Candidate[] },
  accepted: Accepted,
  now: Date,
): RetentionHold | null {
  if (going.length === 0) return null;
  return riseOfCount(backups, accepted, now) ?? fallOfSize(backups, going, accepted);
}

function riseOfCount(backups: readonly Candidate[], { at }: Accepted, now: Date): RetentionHold | null {
  const daysAgo = (backup: Candidate): number => Math.floor((now.getTime() - backup.at.getTime()) / DAY_MS);
  const lastDay = backups.filter((backup) => daysAgo(backup) <= 0 && (at === null || backup.at > at)).length;
  const oldest = Math.min(USUAL_DAYS, Math.max(0, ...backups.map(daysAgo)));
  const counts = Array.from(
    { length: oldest },
    (_, n) => backups.filter((one) => daysAgo(one) === n + 1).length,
  );
  const usual = median(counts);
  const limit = Math.max(ALWAYS_ALLOWED, TIMES_AS_MANY * usual);
  return lastDay > limit ? { reason: "count_rose", last_day: lastDay, usual_a_day: usual } : null;
}

function fallOfSize(
  backups: readonly Candidate[],
  going: readonly Candidate[],
  accepted: Accepted,
): RetentionHold | null {
  const newestFirst = backups.toSorted(byTime).toReversed();
  const goingIds = new Set(going.map(({ id }) => id));
  const newest = median(newestFirst.slice(0, NEWEST).map(({ sizeBytes }) => sizeBytes));
  let largestLeft = 0;
  for (const backup of newestFirst) {
    if (!goingIds.has(backup.id)) {
      largestLeft = Math.max(largestLeft, backup.sizeBytes);
      continue;
    }
    const isAccepted = accepted.at !== null && accepted.bytes !== null && backup.at <= accepted.at;
    const bytes = isAccepted ? Math.min(backup.sizeBytes, accepted.bytes ?? 0) : backup.sizeBytes;
    const left = Math.min(newest, largestLeft);
    if (left * 2 < bytes) return { reason: "size_fell", newest_bytes: left, removed_bytes: backup.sizeBytes };
  }
  return null;
}

/** How large the newest backups are, for the person who accepts them. */
export function newestBytes(backups: readonly Candidate[]): number {
  const newestFirst = backups.toSorted(byTime).toReversed();
  return median(newestFirst.slice(0, NEWEST).map(({ sizeBytes }) => sizeBytes));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
