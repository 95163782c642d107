const BETWEEN = Buffer.from("),(");
/** So many bytes may be the start of `BETWEEN`. */
const HELD = BETWEEN.length - 1;

/**
 * Finds where rows end in a line such as `(1,'a'),(2,'b');`. Between two rows is `),(`, which may
 * also be part of a text: then the number of quotes before it is odd. Quotes and backslashes in a
 * text are escaped by a backslash, or quotes are doubled.
 */
export class RowSplitter {
  readonly #onRow: (part: Buffer, isEnd: boolean) => void;
  #isInText = false;
  #isEscaped = false;
  /** The end of the added bytes, which may be the start of a separator between two rows. */
  #held: Buffer = Buffer.alloc(0);

  /** `onRow` gets parts of rows. The last part of a row ends with one more byte, `,` or `;`. */
  constructor(onRow: (part: Buffer, isEnd: boolean) => void) {
    this.#onRow = onRow;
  }

  /** Takes a part of a line, without the line feed. False if the line ends within a text. */
  add(part: Buffer, isEnd: boolean): boolean {
    const bytes = this.#held.length === 0 ? part : Buffer.concat([this.#held, part]);
    let [row, looked] = [0, 0];
    for (let at = bytes.indexOf(BETWEEN); at !== -1; at = bytes.indexOf(BETWEEN, looked)) {
      this.#look(bytes.subarray(looked, at + 1));
      looked = at + 1;
      if (this.#isInText) continue;
      this.#onRow(bytes.subarray(row, at + HELD), true);
      row = looked = at + HELD;
    }
    const end = isEnd ? bytes.length : Math.max(looked, bytes.length - HELD);
    this.#look(bytes.subarray(looked, end));
    this.#onRow(bytes.subarray(row, end), isEnd);
    this.#held = Buffer.from(bytes.subarray(end));
    if (!isEnd) return true;
    const isWhole = !this.#isInText;
    this.#isInText = this.#isEscaped = false;
    return isWhole;
  }

  /** Without a loop over the bytes, which would be slow without a JIT. */
  #look(bytes: Buffer): void {
    if (bytes.length === 0) return;
    let text = bytes.toString("latin1");
    if (this.#isEscaped) text = text.slice(1);
    this.#isEscaped = false;
    if (text.includes("\\")) {
      text = text.replaceAll(/\\[^]/g, "");
      this.#isEscaped = text.endsWith("\\");
    }
    if (text.split("'").length % 2 === 0) this.#isInText = !this.#isInText;
  }
}
