/** Periods are whole UTC days. People name the last day; the service takes the moment after it. */

const DAY_MS = 86_400_000;

/** The UTC day of a moment, such as `2026-11-21`. */
export function dayOf(moment: string | Date): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** The last day of a period with this exclusive end. */
export function dayBefore(end: string): string {
  return dayOf(new Date(Date.parse(end) - 1));
}

/**
 * The period from the start of the first day to the end of the last, as the service takes it; null
 * if it is not a valid period.
 */
export function periodOfDays(first: string, last: string): { from: string; to: string } | null {
  const from = Date.parse(`${first}T00:00:00Z`);
  const end = Date.parse(`${last}T00:00:00Z`) + DAY_MS;
  if (Number.isNaN(from) || Number.isNaN(end) || end <= from) return null;
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() };
}
