/** SQL as words and groups. A group is `( … )` or `[ … ]`. */
export type Part = string | Group;

export interface Group {
  readonly open: "(" | "[";
  readonly parts: readonly Part[];
}

const CLOSING = { "(": ")", "[": "]" } as const;

/**
 * Everything between parentheses is one group, at any depth. Null if the text is not SQL that can
 * be grouped. `rewrite` gets the parts of each group when it ends, and of the whole text at the
 * end.
 */
export function sqlParts(
  text: string,
  rewrite: (parts: readonly Part[]) => readonly Part[],
): readonly Part[] | null {
  const around: { readonly open: "(" | "["; readonly parts: Part[] }[] = [];
  let parts: Part[] = [];
  for (const word of wordsOf(text)) {
    if (word === null) return null;
    if (word === "(" || word === "[") {
      around.push({ open: word, parts });
      parts = [];
    } else if (word === ")" || word === "]") {
      const last = around.pop();
      if (last === undefined || CLOSING[last.open] !== word) return null;
      last.parts.push({ open: last.open, parts: rewrite(parts) });
      parts = last.parts;
    } else parts.push(word);
  }
  return around.length === 0 ? rewrite(parts) : null;
}

/** The words with one space between each, so that they can still be told apart. */
export function sqlText(parts: readonly Part[]): string {
  const words: string[] = [];
  const left: Part[] = [...parts].reverse();
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (typeof part === "string") words.push(part);
    else {
      words.push(part.open);
      left.push(CLOSING[part.open]);
      for (const inner of [...part.parts].reverse()) left.push(inner);
    }
  }
  return words.join(" ");
}

/** Each word of a text; null if the text is not SQL that can be split into words. */
export function sqlWords(text: string): readonly string[] | null {
  const words: string[] = [];
  for (const word of wordsOf(text)) {
    if (word === null) return null;
    words.push(word);
  }
  return words;
}

/**
 * The words of each statement that begins with one of `beginnings` (null for any), without its
 * semicolon, in SQL with comments and with commands of psql on lines of their own. Ends with a null
 * where the text cannot be split into words.
 */
export function* statementsOf(
  sql: string,
  beginnings: ReadonlySet<string> | null,
): Generator<readonly string[] | null, void, undefined> {
  let words: string[] = [];
  let isWanted = false;
  let isFirst = true;
  for (const word of wordsOf(sql, BETWEEN_STATEMENTS)) {
    if (word === null) return yield null;
    if (word !== ";") {
      if (isFirst) isWanted = beginnings?.has(word) ?? true;
      if (isWanted) words.push(word);
      isFirst = false;
      continue;
    }
    if (isWanted) yield words;
    words = [];
    isFirst = true;
  }
}

/** Space, comments and psql's commands. */
const BETWEEN_STATEMENTS = /(?:[ \t\n\r\f\v]|--[^\n]*|(?<=\n)\\[^\n]*)+/y;
/** Not everything that JavaScript takes for space: a name may have U+00A0. */
const SPACE = /[ \t\n\r\f\v]+/y;
/** The opening of a quoted text or name, or the whole of any other word. */
const WORD =
  /(?:[eEbBxXnN]|[uU]&)?['"]|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\$?\d[\w.]*|[+\-*/<>=~!@#%^&|`?:]+|[()[\],.;]/y;

/** Each word; a quoted text or name is one. Ends with a null where the text cannot be split. */
function* wordsOf(text: string, space = SPACE): Generator<string | null, void, undefined> {
  const matched = (pattern: RegExp, at: number): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? "";
  };
  for (let at = 0; ;) {
    at += matched(space, at).length;
    if (at === text.length) return;
    const begin = matched(WORD, at);
    const end = begin === "" ? null : endOfWord(text, at, begin);
    yield end === null ? null : text.slice(at, end);
    if (end === null) return;
    at = end;
  }
}

/** Null if a quoted text has no end. */
function endOfWord(text: string, at: number, begin: string): number | null {
  const inside = at + begin.length;
  const quote = begin.at(-1);
  if (quote === "$") {
    const close = text.indexOf(begin, inside);
    return close === -1 ? null : close + begin.length;
  }
  if (quote !== "'" && quote !== '"') return inside;
  // Only these have escapes. PostgreSQL prints backslashes in all others as they are.
  const hasEscapes = begin.toLowerCase() === "e'";
  for (let next = inside; next < text.length; next++) {
    if (hasEscapes && text[next] === "\\") next++;
    else if (text[next] === quote) {
      if (text[next + 1] !== quote) return next + 1;
      next++;
    }
  }
  return null;
}
