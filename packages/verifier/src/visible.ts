import { plainLine, plainText } from "@attestore/proof";

/** Escapes foreign text for one line of a report. */
export const visible = plainLine;

/** The same, truncated to a line's length. */
export function brief(text: string, limit = 200): string {
  const shown = visible(text);
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}

/** Formats JSON with unsafe characters as JSON escapes, which keep its meaning. */
export function visibleJson(value: unknown): string {
  return plainText(JSON.stringify(value, null, 2));
}
