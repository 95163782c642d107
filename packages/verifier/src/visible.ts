/**
 * Foreign text made safe to print: control characters, line breaks and characters that reorder or hide text are shown
 * as escapes, so that a receipt cannot write lines of its own into the report or move the terminal's cursor.
 */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The same, cut to a line's length. */
export function brief(text: string, limit = 200): string {
  const shown = visible(text);
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}

/** JSON with the same characters as JSON's own escapes, which says the same. Those below U+0020 it escapes by itself. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, n) => `\\u${hex(character.charCodeAt(n))}`).join(""),
  );
}

function hex(unit: number): string {
  return unit.toString(16).padStart(4, "0");
}
