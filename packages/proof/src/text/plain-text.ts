/**
 * Control characters, characters that reorder or hide text, lone surrogates, unusual line breaks,
 * and letters and marks that nobody sees (U+FE0F and its like only choose how a sign looks).
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/**
 * Makes foreign text safe to show on one line. Control characters, line breaks, and characters that
 * reorder or hide text become escapes (`\u001b`), so the text cannot move a cursor, clear a screen
 * or add lines.
 */
export function plainLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same, cut after so many UTF-16 code units; an ellipsis then says that there was more. */
export function plainExcerpt(text: string, limit: number): string {
  const line = plainLine(text);
  // A cut between the two halves of a sign would leave one that is no text.
  return line.length > limit ? `${line.slice(0, limit).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** Like {@link plainLine}, but keeps line breaks and tabs. JSON keeps its meaning. */
export function plainText(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

/**
 * The same, with every line after the first indented, so that none of them looks like a message of
 * its own.
 */
export function plainMessage(text: string): string {
  return plainText(text).replace(/\n(?=\S)/g, "\n  ");
}

/** Escapes as JSON does: two escapes for a character above U+FFFF. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
