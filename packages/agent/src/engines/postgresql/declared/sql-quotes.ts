const OPENING =
  /--|\/\*|"|(?<![\w$\x80-\xff])[eE]'|'|(?<![\w$\x80-\xff])\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$/g;
const OF_ESCAPED = /\\[^]?|''|'/g;
const OF_COMMENT = /\/\*|\*\//g;
/**
 * A line without any of these can only have plain strings. Most lines, such as rows, are like that,
 * and an even number of quotes then leaves none open.
 */
const OTHERS = /["$\\]|--|\/\*/;
/** Longer than any of these: a name has at most 63 bytes. */
const LONGEST = 80;

type Quotes =
  | { readonly kind: "until"; readonly end: string }
  | { readonly kind: "escaped" }
  | { readonly kind: "comment"; depth: number };

/**
 * Reads passing SQL, and tells whether its end is inside a string, a quoted name or a comment of
 * several lines. Each byte is one character (latin1). It keeps no text.
 */
export class SqlQuotes {
  /** False for dumps of sources with `standard_conforming_strings = off`. */
  conforms = true;
  #quotes: Quotes | null = null;
  /** Whether the rest of the line is a comment. */
  #isComment = false;
  /** The last character that was read, and the text that was not read yet. */
  #text = "";
  #at = 0;

  get isQuoted(): boolean {
    return this.#quotes !== null;
  }

  /** Reads a part of a line. `isEnd` marks the line's last part. */
  add(part: string, isEnd: boolean): void {
    const isAlone = isEnd && this.#text === "" && this.#quotes === null && !this.#isComment;
    if (isAlone && !OTHERS.test(part) && part.split("'").length % 2 === 1) return;
    this.#text += part;
    const text = this.#text;
    // An item that begins later may have its end in the next part.
    const until = isEnd ? text.length : text.length - LONGEST;
    while (this.#at < until && !this.#isComment) this.#next(until);
    const kept = isEnd ? "" : this.#isComment ? "" : text.slice(Math.max(0, this.#at - 1));
    this.#at = Math.min(this.#at, kept === "" ? 0 : 1);
    this.#text = kept;
    if (isEnd) this.#isComment = false;
  }

  /** Reads past the next token that opens or closes something, or to `until`. */
  #next(until: number): void {
    const quotes = this.#quotes;
    if (quotes?.kind === "until") {
      const found = this.#text.indexOf(quotes.end, this.#at);
      if (found === -1 || found >= until) return this.#skipTo(until);
      this.#at = found + quotes.end.length;
      this.#quotes = null;
      return;
    }
    const pattern = quotes === null ? OPENING : quotes.kind === "escaped" ? OF_ESCAPED : OF_COMMENT;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null || found.index >= until) return this.#skipTo(until);
    this.#at = pattern.lastIndex;
    const [token] = found;
    if (quotes === null) this.#open(token);
    else if (quotes.kind === "escaped") {
      if (token === "'") this.#quotes = null;
    } else {
      quotes.depth += token === "/*" ? 1 : -1;
      if (quotes.depth === 0) this.#quotes = null;
    }
  }

  #skipTo(until: number): void {
    this.#at = Math.max(this.#at, until);
  }

  #open(token: string): void {
    if (token === "--") this.#isComment = true;
    else if (token === "/*") this.#quotes = { kind: "comment", depth: 1 };
    else if (token.length === 2 && token.endsWith("'")) this.#quotes = { kind: "escaped" };
    // A doubled quote inside closes and opens again.
    else if (token === "'" && !this.conforms) this.#quotes = { kind: "escaped" };
    else this.#quotes = { kind: "until", end: token };
  }
}
