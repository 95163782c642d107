/** Periods are of whole days of UTC: people name the last day, the service the moment after it. */

const DAY_MS = 86_400_000;

/** `2026-11-21` of a moment. */
export function dayOf(moment: string | Date): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** The last day of a period that ends before this moment. */
export function dayBefore(end: string): string {
  return dayOf(new Date(Date.parse(end) - 1));
}

/** From the first moment of the one day up to the end of the other, as the service takes it; null where that is no period. */
export function periodOfDays(first: string, last: string): { from: string; to: string } | null {
  const from = Date.parse(`${first}T00:00:00Z`);
  const end = Date.parse(`${last}T00:00:00Z`) + DAY_MS;
  if (Number.isNaN(from) || Number.isNaN(end) || end <= from) return null;
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() };
}
