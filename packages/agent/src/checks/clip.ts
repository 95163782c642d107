/**
 * At most `max` characters of a text, with a mark if it was longer. Never half a surrogate pair,
 * because receipts only contain well-formed text.
 */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${startOf(text, max)}…`;
}

/** The same without the mark. */
export function startOf(text: string, max: number): string {
  const start = text.slice(0, max);
  return start.isWellFormed() ? start : start.slice(0, -1);
}
