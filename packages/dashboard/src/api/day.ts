/**
 * Days of a filter in the reader's time zone, written as in the URL and the browser's date fields
 * (`2026-11-21`).
 */
export function dayIn(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
  // A day that the month does not have would roll over into the next month.
  return startOf(value).getDate() === Number(value.slice(8)) ? value : undefined;
}

/** The period for a call: from the start of the first day to the end of the last. */
export function periodOf({ from, to }: { from?: string; to?: string }): { from?: string; to?: string } {
  return {
    ...(from === undefined ? {} : { from: startOf(from).toISOString() }),
    ...(to === undefined ? {} : { to: dayAfter(to).toISOString() }),
  };
}

/** Midnight in the reader's zone: a time without a zone is local. */
function startOf(day: string): Date {
  return new Date(`${day}T00:00:00`);
}

/** Not 24 hours later: some days have 23 or 25 hours. */
function dayAfter(day: string): Date {
  const start = startOf(day);
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1);
}
