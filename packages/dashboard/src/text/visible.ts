/**
 * Text that somebody else wrote, safe to show in a line: control characters and those that reorder or hide text stand as escapes, so that a
 * receipt cannot make itself read as something that it does not say.
 */
export function visible(text: string, limit = 400): string {
  const shown = text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return shown.length > limit ? `${shown.slice(0, limit)}…` : shown;
}
