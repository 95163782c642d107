/** The days that are shown: how many there are from the first; today is the last. */
export interface Strip {
  /** `2026-11-21`, UTC */
  first: string;
  days: number;
}

const DAY_MS = 86_400_000;

/**
 * One letter for each day, for the worst that is known about it: f failed, m missed, p proven, b
 * only backed up, - nothing. SourceDays' marks contain what receipts say about a day.
 */
export function stripOf(
  strip: Strip,
  marks: string,
  missed: readonly string[],
  failures: readonly { day: string }[],
): string {
  const letters = Array.from({ length: strip.days }, () => "-");
  const set = (index: number, letter: string): void => {
    // An agent's clock can be ahead, or something can happen while this is read.
    if (index >= 0 && index < strip.days) letters[index] = letter;
  };
  for (let at = 0; at < marks.length; at += 2) set(dayOfMark(marks, at), marks.charAt(at + 1));
  const indexOf = (day: string): number => Math.round((Date.parse(day) - Date.parse(strip.first)) / DAY_MS);
  for (const day of missed) if (letters[indexOf(day)] !== "f") set(indexOf(day), "m");
  for (const { day } of failures) set(indexOf(day), "f");
  return letters.join("");
}

/** How many days after the first day the mark is about that begins at `at`. */
export function dayOfMark(marks: string, at: number): number {
  return marks.charCodeAt(at) - 48;
}
