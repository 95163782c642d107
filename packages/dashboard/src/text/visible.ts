import { plainLine } from "@attestore/proof";

/** Text that somebody else wrote, safe to show in a line, so that a receipt cannot make itself read as something that it unknown. */
export function visible(text: string, limit = 400): string {
  const shown = plainLine(text);
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}
