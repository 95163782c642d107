import { plainLine, plainText } from "@attestore/proof";

/** Foreign text in one line of a report. */
export const visible = plainLine;

/** The same, cut to a line's length. */
export function brief(text: string, limit = 200): string {
  const shown = visible(text);
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}

/** JSON with the same characters as JSON's own escapes, which says the same. */
export function visibleJson(value: unknown): string {
  return plainText(JSON.stringify(value, null, 2));
}
