const DAY_MS = 86_400_000;

/** A week of ISO 8601, Monday to Monday, in UTC. */
export interface Week {
  /** `2026-W47` */
  name: string;
  from: Date;
  /** Exclusive. */
  to: Date;
}

/** The newest week that is over. */
export function lastWholeWeek(now: Date): Week {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  const to = today - ((now.getUTCDay() + 6) % 7) * DAY_MS;
  const from = to - 7 * DAY_MS;
  // A week belongs to the year of its Thursday.
  const thursday = new Date(from + 3 * DAY_MS);
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  const number = Math.floor((thursday.getTime() - newYear) / (7 * DAY_MS)) + 1;
  return {
    name: `${thursday.getUTCFullYear()}-W${String(number).padStart(2, "0")}`,
    from: new Date(from),
    to: new Date(to),
  };
}
