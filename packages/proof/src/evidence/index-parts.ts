import { escapeHtml } from "../text/escape-html.ts";
import type { RunCount } from "./summary.ts";

/**
 * Escapes text for HTML. Control characters, and characters that reorder or hide text (Unicode
 * category Cf), are shown by number, so a name cannot make the page say something else.
 */
export function escaped(text: string): string {
  return escapeHtml(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
}

export const code = (text: string): string => `<code>${escaped(text)}</code>`;

export interface Cell {
  html: string;
  /**
   * Marks something that needs attention. It is written in words too, for prints without colour.
   */
  bad?: boolean;
}

export const cell = (text: string): Cell => ({ html: escaped(text) });

export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join("");
  const body = rows.map(
    (row) =>
      `<tr>${row.map(({ html, bad }) => `<td${bad ? ' class="bad"' : ""}>${html}</td>`).join("")}</tr>`,
  );
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body.join("\n")}\n</tbody></table></div>`;
}

/** Formats a time to the minute. */
export function moment(timestamp: string): string {
  return escaped(timestamp.replace("T", " ").slice(0, 16));
}

export function runs({ total, passed, failed, missed, waiting, withdrawn }: RunCount): Cell[] {
  return [
    { html: String(total) },
    { html: String(passed) },
    { html: String(failed), bad: failed > 0 },
    { html: String(missed), bad: missed > 0 },
    { html: String(waiting) },
    { html: String(withdrawn) },
  ];
}

/** An objective and the value achieved. */
export function objective(values: {
  objective_s: number | null;
  achieved_s: number | null;
  met: boolean | null;
}): Cell {
  const { objective_s, achieved_s, met } = values;
  const achieved = achieved_s === null ? "none" : duration(achieved_s);
  const against = objective_s === null ? "no objective" : `objective ${duration(objective_s)}`;
  const verdict = met === null ? "" : met ? "<br>met" : "<br><strong>not met</strong>";
  return { html: `${achieved}<br>${against}${verdict}`, bad: met === false };
}

const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** Formats a duration in its two largest units. */
export function duration(seconds: number): string {
  let rest = seconds;
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
