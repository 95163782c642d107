/** A backup as the rules see it. */
export interface Kept {
  readonly id: string;
  readonly at: Date;
}

/**
 * How many backups each rule keeps; 0 or nothing keeps none. A backup that any rule keeps stays.
 */
export interface KeepRules {
  readonly keep_last?: number;
  readonly keep_days?: number;
  readonly keep_daily?: number;
  readonly keep_weekly?: number;
  readonly keep_monthly?: number;
  readonly keep_yearly?: number;
}

export interface KeepReason {
  rule: keyof KeepRules;
  /** The day, ISO week, month or year that it is kept for. */
  period?: string;
}

type Period = (local: Date) => string;

const DAY_MS = 86_400_000;

const PERIODS: readonly (readonly [keyof KeepRules, Period])[] = [
  ["keep_daily", (local) => local.toISOString().slice(0, 10)],
  ["keep_weekly", isoWeek],
  ["keep_monthly", (local) => local.toISOString().slice(0, 7)],
  ["keep_yearly", (local) => local.toISOString().slice(0, 4)],
];

/** Whether any rule keeps something. Without one nothing is ever removed. */
export function hasRules(rules: KeepRules): boolean {
  return Object.values(rules).some((count: number | undefined) => (count ?? 0) > 0);
}

export interface KeepOptions {
  /** A moment in the local time of the days, weeks and months, as if it were UTC. */
  readonly localOf: (at: Date) => Date;
  /** No backup counts as newer than this, whatever the clock of its maker said. */
  readonly now?: Date;
}

/**
 * Why each backup stays: the union of the rules, as in restic's `forget`. `keep_last` keeps that
 * many of the newest. `keep_days` keeps backups that are at most that many days older than the
 * newest one, so nothing goes only because no backup was made for a while. The others keep the
 * newest backup of each of that many days, ISO weeks, months or years that have one. While fewer
 * than that have one, the oldest backup stays too.
 */
export function keepReasons(
  backups: readonly Kept[],
  rules: KeepRules,
  { localOf, now }: KeepOptions,
): Map<string, KeepReason[]> {
  const newestFirst = backups.toSorted(byTime).toReversed();
  const reasons = new Map<string, KeepReason[]>();
  const keep = ({ id }: Kept, reason: KeepReason): void => {
    reasons.set(id, [...(reasons.get(id) ?? []), reason]);
  };
  for (const backup of newestFirst.slice(0, rules.keep_last ?? 0)) keep(backup, { rule: "keep_last" });
  const [newest] = newestFirst;
  if (newest !== undefined && (rules.keep_days ?? 0) > 0) {
    const until = Math.min(newest.at.getTime(), now?.getTime() ?? Infinity);
    const since = until - (rules.keep_days ?? 0) * DAY_MS;
    for (const backup of newestFirst) if (backup.at.getTime() > since) keep(backup, { rule: "keep_days" });
  }
  const local = new Map(newestFirst.map(({ id, at }) => [id, localOf(at)]));
  for (const [rule, periodOf] of PERIODS) {
    let left = rules[rule] ?? 0;
    let last: string | null = null;
    for (const [index, backup] of newestFirst.entries()) {
      if (left === 0) break;
      const period = periodOf(local.get(backup.id) ?? backup.at);
      if (period === last && index < newestFirst.length - 1) continue;
      keep(backup, { rule, period });
      last = period;
      left -= 1;
    }
  }
  return reasons;
}

/** What restore tests say about a backup. */
export interface PassedTests<Backup> {
  readonly ever: (backup: Backup) => boolean;
  /** Its last test passed. */
  readonly lately: (backup: Backup) => boolean;
  /** Its last test passed, and found nothing suspicious. */
  readonly clean: (backup: Backup) => boolean;
}

/**
 * Backups that stay whatever the rules say, with the reason: the newest that ever passed a restore
 * test, the newest whose last test passed (the former may be damaged since, and must not be the
 * reason to remove this one), and the newest of these in which nothing was suspicious (encrypted
 * data restore without an error too).
 */
export function keptByTests<Backup extends Kept>(
  backups: readonly Backup[],
  { ever, lately, clean }: PassedTests<Backup>,
): ReadonlyMap<string, "proven" | "clean"> {
  const newestFirst = backups.toSorted(byTime).toReversed();
  const kept = new Map<string, "proven" | "clean">();
  const newestClean = newestFirst.find(clean);
  if (newestClean !== undefined) kept.set(newestClean.id, "clean");
  for (const newest of [newestFirst.find(ever), newestFirst.find(lately)])
    if (newest !== undefined) kept.set(newest.id, "proven");
  return kept;
}

/** Oldest first; of two at the same moment, the one with the greater id is newer. */
export function byTime(a: Kept, b: Kept): number {
  return a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1);
}

/** ISO 8601: a week belongs to the year that has its Thursday. */
function isoWeek(local: Date): string {
  const thursday = new Date(local.getTime() + (3 - ((local.getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const day = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(day / 7) + 1).padStart(2, "0")}`;
}
