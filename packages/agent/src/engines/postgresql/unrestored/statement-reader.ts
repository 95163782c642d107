/** Without quotes, a name has no capital letters, and a keyword has no others. */
const PLAIN_NAME = /^[a-z_\u0080-\uffff][a-z0-9_$\u0080-\uffff]*$/;

/** Reads one statement of pg_dump word by word. Whatever is not as expected gives null. */
export class StatementReader {
  readonly #words: readonly string[];
  #at = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  get next(): string | undefined {
    return this.#words[this.#at];
  }

  /** Whether it was read to its end. */
  get isRead(): boolean {
    return this.#at === this.#words.length;
  }

  /** Passes these words, or none. */
  accepts(...words: readonly string[]): boolean {
    if (!words.every((word, index) => this.#words[this.#at + index] === word)) return false;
    this.#at += words.length;
    return true;
  }

  /** Without quotes. */
  name(): string | null {
    const word = this.next ?? "";
    if (!word.startsWith('"') && !PLAIN_NAME.test(word)) return null;
    this.#at++;
    return word.startsWith('"') ? word.slice(1, -1).replaceAll('""', '"') : word;
  }

  /** A number or keyword as it is. */
  word(): string | null {
    const { next = null } = this;
    if (next !== null) this.#at++;
    return next;
  }

  /** `a.b` */
  qualified(): readonly string[] | null {
    return this.#separated(".", (each) => each.name());
  }

  /** `a, b` */
  names(): readonly string[] | null {
    return this.#separated(",", (each) => each.name());
  }

  /** The value of `'…'`. pg_dump writes no other texts, because backslashes are no escapes. */
  text(): string | null {
    const word = this.next ?? "";
    if (!word.startsWith("'")) return null;
    this.#at++;
    return word.slice(1, -1).replaceAll("''", "'");
  }

  /** The same, also with the only escape that pg_dump and pg_dumpall write, `E'…\\\\…'`. */
  literal(): string | null {
    const plain = this.text();
    if (plain !== null) return plain;
    const [, escaped] = /^E'((?:[^'\\]|''|\\\\)*)'$/.exec(this.next ?? "") ?? [];
    if (escaped === undefined) return null;
    this.#at++;
    return escaped.replaceAll("''", "'").replaceAll("\\\\", "\\");
  }

  /** `'a', 'b'` */
  literals(): readonly string[] | null {
    return this.#separated(",", (each) => each.literal());
  }

  /** Passes whatever is left. */
  skip(): true {
    this.#at = this.#words.length;
    return true;
  }

  /** `(a, b)` */
  list(read: (statement: this) => string | null): readonly string[] | null {
    if (!this.accepts("(")) return null;
    const list = this.#separated(",", read);
    return list !== null && this.accepts(")") ? list : null;
  }

  /** `(a = b, c = 'd')` with only these keys, and each once. */
  options(...known: readonly string[]): ReadonlyMap<string, string> | null {
    const options = new Map<string, string>();
    const list = this.list((each) => {
      const key = each.name();
      if (key === null || !known.includes(key) || options.has(key) || !each.accepts("=")) return null;
      const value = each.text() ?? (each.accepts("NONE") ? "NONE" : each.name());
      if (value !== null) options.set(key, value);
      return value;
    });
    return list === null ? null : options;
  }

  /** The words within the parentheses that the rest of the statement is. */
  group(): readonly string[] | null {
    const words = this.#words.slice(this.#at);
    let depth = 0;
    const isOne = words.every((word, index) => {
      depth += word === "(" ? 1 : word === ")" ? -1 : 0;
      return depth > 0 || index === words.length - 1;
    });
    if (words[0] !== "(" || depth !== 0 || !isOne) return null;
    this.#at = this.#words.length;
    return words.slice(1, -1);
  }

  /** The words before that one. */
  until(word: string): readonly string[] | null {
    const end = this.#words.indexOf(word, this.#at);
    if (end <= this.#at) return null;
    const words = this.#words.slice(this.#at, end);
    this.#at = end;
    return words;
  }

  #separated(by: string, read: (statement: this) => string | null): readonly string[] | null {
    const values: string[] = [];
    do {
      const value = read(this);
      if (value === null) return null;
      values.push(value);
    } while (this.accepts(by));
    return values;
  }
}
