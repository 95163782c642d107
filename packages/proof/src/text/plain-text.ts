/** Controls, characters that reorder or hide text, halves of pairs, and the other line breaks. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Text that somebody else may have written, as one line that is safe to show: control characters, line breaks and characters that
 * reorder or hide text stand as escapes (`\u001b`), so that it cannot move a cursor, clear a screen, or write lines of its own.
 */
export function plainLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same with the line breaks and tabs left in. What is JSON stays the same JSON. */
export function plainText(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

/** The same, with every line after the first indented: none of them can be taken for a message of its own. */
export function plainMessage(text: string): string {
  return plainText(text).replace(/\n(?=\S)/g, "\n  ");
}

/** As JSON has it: a character beyond U+FFFF as two. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
