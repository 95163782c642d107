/**
 * The kind of the event with which the service says that its clock went back: entries right before
 * it are dated later than it.
 */
export const CLOCK_WENT_BACK = "clock_went_back";

/** Entries of the log by index, both included. */
export interface DatedTooLate {
  first_index: number;
  last_index: number;
}

/** What the event's detail names; null if it names no entries that end right before the event. */
export function readDatedTooLate(
  { first_index: first, last_index: last }: Readonly<Record<string, unknown>>,
  index: number,
): DatedTooLate | null {
  if (typeof first !== "number" || !Number.isSafeInteger(first) || first < 0) return null;
  return last === index - 1 && first <= last ? { first_index: first, last_index: last } : null;
}
