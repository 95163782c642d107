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
