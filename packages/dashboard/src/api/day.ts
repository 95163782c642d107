/** Days of a filter, as the address and the browser's own date fields have them (`2026-11-21`), in the reader's zone. */
export function dayIn(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
  // A day that the month does not have rolls over into the next one.
  return startOf(value).getDate() === Number(value.slice(8)) ? value : undefined;
}

/** The period of a call: from the first moment of the one day until after the last of the other. */
export function periodOf({ from, to }: { from?: string; to?: string }): { from?: string; to?: string } {
  return {
    ...(from === undefined ? {} : { from: startOf(from).toISOString() }),
    ...(to === undefined ? {} : { to: dayAfter(to).toISOString() }),
  };
}

/** Midnight where the reader is: a time without zone is local. */
function startOf(day: string): Date {
  return new Date(`${day}T00:00:00`);
}

/** Not 24 hours later: some days have 23, or 25. */
function dayAfter(day: string): Date {
  const start = startOf(day);
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1);
}
