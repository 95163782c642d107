/**
 * One word for a POSIX shell, in quotes where it needs them, so that people can paste a command.
 */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : singleQuoted(word);
}

/** A text in single quotes, as every shell of sh's family and fish read it. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
