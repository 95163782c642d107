/** The days that are shown: how many there are from the first, today's the last. */
export interface Strip {
  /** `2026-11-21`, UTC */
  first: string;
  days: number;
}

const DAY_MS = 86_400_000;

/**
 * A letter a day with the worst that is known of it: f failed, m missed, p proven, b backed up
 * only, - nothing. What a day's receipts say comes as SourceDays' marks.
 */
export function stripOf(
  strip: Strip,
  marks: string,
  missed: readonly string[],
  failures: readonly { day: string }[],
): string {
  const letters = Array.from({ length: strip.days }, () => "-");
  const set = (index: number, letter: string): void => {
    // An agent's clock that is ahead, or what happens while this is read.
    if (index >= 0 && index < strip.days) letters[index] = letter;
  };
  for (let at = 0; at < marks.length; at += 2) set(dayOfMark(marks, at), marks.charAt(at + 1));
  const indexOf = (day: string): number => Math.round((Date.parse(day) - Date.parse(strip.first)) / DAY_MS);
  for (const day of missed) if (letters[indexOf(day)] !== "f") set(indexOf(day), "m");
  for (const { day } of failures) set(indexOf(day), "f");
  return letters.join("");
}

/** How many days after the first the mark is of that begins at `at`. */
export function dayOfMark(marks: string, at: number): number {
  return marks.charCodeAt(at) - 48;
}
