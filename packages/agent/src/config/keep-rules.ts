/**
 * How many backups each rule keeps; 0 keeps none. What any rule keeps stays (contract section 11).
 */
export interface KeepRules {
  /** The newest n. */
  readonly last: number;
  /** All of the last n times 24 hours. */
  readonly days: number;
  /**
   * The newest of each of the n newest days (UTC) that have one; weeks start on Monday (ISO 8601).
   */
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
  readonly yearly: number;
}

export interface Datable {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
}

export function hasRules(rules: KeepRules): boolean {
  return Object.values(rules).some((count: number) => count > 0);
}

/**
 * Why each backup of one source is kept, by id; the others may be removed. `passed`: those that
 * ever passed a restore test, those whose newest test passed, and those of them in which nothing
 * was suspicious. The newest of each is never pruned, whatever the rules say: a backup that rots,
 * or has encrypted data in it, must not be the reason to remove an older one that is good.
 */
export function keptBy(
  backups: readonly Datable[],
  rules: KeepRules,
  {
    passed,
    now,
  }: { readonly passed: Record<"ever" | "lately" | "clean", ReadonlySet<string>>; readonly now: Date },
): ReadonlyMap<string, string[]> {
  const newestFirst = backups.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const kept = new Map<string, string[]>();
  const keep = ({ id }: Datable, why: string): void => void kept.set(id, [...(kept.get(id) ?? []), why]);

  for (const backup of newestFirst.slice(0, rules.last)) keep(backup, "last");
  const since = now.getTime() - rules.days * 86_400_000;
  if (rules.days > 0)
    for (const backup of newestFirst) if (Date.parse(backup.at) >= since) keep(backup, "days");
  for (const [rule, periodOf] of PERIODS) {
    const periods = new Set<string>();
    for (const backup of newestFirst) {
      const period = periodOf(new Date(backup.at));
      if (periods.has(period) || periods.size >= rules[rule]) continue;
      periods.add(period);
      keep(backup, rule);
    }
  }
  const newestOf = (ids: ReadonlySet<string>): Datable | undefined =>
    newestFirst.find(({ id }) => ids.has(id));
  for (const proven of new Set([newestOf(passed.ever), newestOf(passed.lately)]))
    if (proven !== undefined) keep(proven, "proven");
  const clean = newestOf(passed.clean);
  if (clean !== undefined && kept.get(clean.id)?.includes("proven") !== true) keep(clean, "clean");
  return kept;
}

const PERIODS: readonly (readonly ["daily" | "weekly" | "monthly" | "yearly", (date: Date) => string])[] = [
  ["daily", (date) => date.toISOString().slice(0, 10)],
  ["weekly", mondayOf],
  ["monthly", (date) => date.toISOString().slice(0, 7)],
  ["yearly", (date) => date.toISOString().slice(0, 4)],
];

function mondayOf(date: Date): string {
  const day = (date.getUTCDay() + 6) % 7;
  return new Date(date.getTime() - day * 86_400_000).toISOString().slice(0, 10);
}
