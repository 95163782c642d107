import { plainLine } from "@attestore/proof";

/**
 * Makes text that somebody else wrote safe to show in a line: a receipt cannot look like something
 * that it is not.
 */
export function visible(text: string, limit = 400): string {
  const shown = plainLine(text);
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}
