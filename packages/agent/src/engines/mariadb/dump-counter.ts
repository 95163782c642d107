/** Enough of a line to know what it begins, with the longest names that there are. */
const HEAD_BYTES = 1024;
const [NEWLINE, PARENTHESIS] = [0x0a, 0x28];

/**
 * Counts the rows of each table in what mariadb-dump writes, as it passes: a row a line, and line
 * breaks within a value are written as `\n`. It counts between `LOCK TABLES` and `UNLOCK TABLES`
 * only, where nothing but rows is, and never within the text of a routine or trigger, which comes
 * between two `DELIMITER` lines.
 */
export class DumpCounter {
  /** By database and table, as JSON. */
  readonly #rows = new Map<string, bigint>();
  #database = "";
  #table: string | null = null;
  #isCode = false;
  /** The beginning of a line whose end is in a later piece. */
  #begun: Buffer = Buffer.alloc(0);
  #lastByte = 0;

  add(piece: Buffer): void {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      const isWhole = this.#begun.length === 0;
      // A row, most of the time: nothing else of it matters.
      if (isWhole && piece[start] === PARENTHESIS) this.#count(1n);
      else if (isWhole) this.#line(piece.subarray(start, end), piece[end - 1] ?? 0);
      else {
        this.#begin(piece.subarray(start, end));
        this.#line(this.#begun, this.#lastByte);
        this.#begun = Buffer.alloc(0);
      }
      start = end + 1;
    }
    if (start < piece.length) this.#begin(piece.subarray(start));
  }

  /** Null for a table that the dump has no data section of. */
  rowsOf(database: string, table: string): bigint | null {
    return this.#rows.get(JSON.stringify([database, table])) ?? null;
  }

  #begin(part: Buffer): void {
    const room = HEAD_BYTES - this.#begun.length;
    if (room > 0) this.#begun = Buffer.concat([this.#begun, part.subarray(0, room)]);
    this.#lastByte = part.at(-1) ?? this.#lastByte;
  }

  #line(line: Buffer, lastByte: number): void {
    if (line[0] === PARENTHESIS) return this.#count(1n);
    const text = line.subarray(0, HEAD_BYTES).toString("utf8");
    if (text.startsWith("DELIMITER ")) this.#isCode = text !== "DELIMITER ;";
    if (this.#isCode) return;
    const used = /^USE `((?:[^`]|``)+)`;$/.exec(text)?.[1];
    if (used !== undefined) this.#database = used.replaceAll("``", "`");
    const locked = /^LOCK TABLES `((?:[^`]|``)+)` WRITE;$/.exec(text)?.[1];
    if (locked !== undefined) {
      this.#table = JSON.stringify([this.#database, locked.replaceAll("``", "`")]);
      this.#count(0n);
    }
    if (text === "UNLOCK TABLES;") this.#table = null;
    // With the columns' names the first row follows on the same line.
    const isRow = lastByte === 0x2c || lastByte === 0x3b;
    if (/^(?:INSERT|REPLACE) /.test(text) && isRow) this.#count(1n);
  }

  #count(more: bigint): void {
    if (this.#table !== null && !this.#isCode)
      this.#rows.set(this.#table, (this.#rows.get(this.#table) ?? 0n) + more);
  }
}
