import type { RowLayout } from "../connection/programs.ts";
import { RowSplitter } from "./row-splitter.ts";
import { RowSum } from "./row-sum.ts";

/** Enough of a line to recognise it, even with the longest names. */
const HEAD_BYTES = 1024;
/** The same for an INSERT that names the columns of its table. */
const INSERT_BYTES = 256 * 1024;
const [NEWLINE, PARENTHESIS] = [0x0a, 0x28];
const INSERT = Buffer.from("INSERT INTO ");
const NAME = "`(?:[^`]|``)+`";
const COLUMN = `(?:${NAME}|row_start|row_end)`;
/** What comes before the first row, if both are on the same line. */
const INSERT_HEAD = new RegExp(`^INSERT INTO ${NAME} (?:\\(${COLUMN}(?:, ?${COLUMN})*\\) )?VALUES (?=\\()`);
/** The whole line, if the rows follow on lines of their own. */
const INSERT_LINE = new RegExp(`^INSERT INTO ${NAME} (?:\\(${COLUMN}(?:, ?${COLUMN})*\\) )?VALUES$`);

/** The rows of one table in a dump. */
export interface DumpedTable {
  readonly database: string;
  readonly table: string;
  readonly rows: bigint;
  /** In hex, from `RowSum`. Null without a key, or if not every row was understood. */
  readonly sum: string | null;
}

interface Section extends Omit<DumpedTable, "rows" | "sum"> {
  rows: bigint;
  readonly sum: RowSum | null;
  isComplete: boolean;
  isOdd: boolean;
}

/**
 * Counts the rows of each table in a dump program's output while it passes. With a key, it also
 * adds up the digests of the rows. Line breaks in values are escaped, so no row is on two lines.
 * Only lines between `LOCK TABLES` and `UNLOCK TABLES` count, where there is nothing but rows. The
 * text of a routine or trigger, between two `DELIMITER` lines, never counts.
 */
export class DumpCounter {
  readonly #key: Buffer | null;
  readonly #splitter: RowSplitter | null;
  /** The keys are database and table, as a JSON array. */
  readonly #tables = new Map<string, Section>();
  #database = "";
  #section: Section | null = null;
  #isCode = false;
  #isInRow = false;
  /** The beginning of a line that ends in a later piece. */
  #begun: Buffer = Buffer.alloc(0);

  /** With the backup's key, each table's rows also get a sum. */
  constructor(layout: RowLayout, key?: Buffer) {
    this.#key = key ?? null;
    this.#splitter =
      layout === "one_a_line" ? null : new RowSplitter((part, isEnd) => this.#addToRow(part, isEnd));
  }

  add(piece: Buffer): void {
    let start = 0;
    while (start < piece.length) {
      const newline = piece.indexOf(NEWLINE, start);
      const part = newline === -1 ? piece.subarray(start) : piece.subarray(start, newline);
      const isEnd = newline !== -1;
      if (this.#isInRow) this.#rowPart(part, isEnd);
      else if (this.#begun.length === 0) this.#lineFrom(part, isEnd);
      else this.#goOn(part, isEnd);
      start += part.length + 1;
    }
  }

  /** Null if the dump has no data section for the table. */
  rowsOf(database: string, table: string): bigint | null {
    return this.#tables.get(JSON.stringify([database, table]))?.rows ?? null;
  }

  /** The tables whose section is complete. */
  tables(): DumpedTable[] {
    return [...this.#tables.values()].flatMap(({ isComplete, isOdd, sum, ...own }) =>
      isComplete ? [{ ...own, sum: isOdd ? null : (sum?.hex() ?? null) }] : [],
    );
  }

  #lineFrom(part: Buffer, isEnd: boolean): void {
    if (part[0] === PARENTHESIS) {
      if (this.#section !== null) this.#rowPart(part, isEnd);
      // It is not a row, and no other line that matters begins like this.
      else if (!isEnd) this.#begun = Buffer.from("(");
    } else if (isEnd) this.#line(part);
    else this.#goOn(part, false);
  }

  /** Takes a line that began in an earlier piece, or that ends in a later one. */
  #goOn(part: Buffer, isEnd: boolean): void {
    const room = (this.#section === null ? HEAD_BYTES : INSERT_BYTES) - this.#begun.length;
    const line = Buffer.concat([this.#begun, part.subarray(0, Math.max(0, room))]);
    this.#begun = isEnd ? Buffer.alloc(0) : line;
    const head = this.#section === null ? 0 : headLength(line);
    if (head > 0) {
      const kept = line.subarray(head);
      this.#begun = Buffer.alloc(0);
      this.#rowPart(kept, isEnd && part.length <= room);
      if (part.length > room) this.#rowPart(part.subarray(room), isEnd);
    } else if (isEnd) this.#line(line);
  }

  #line(line: Buffer): void {
    const head = this.#section === null ? 0 : headLength(line);
    if (head > 0) return this.#rowPart(line.subarray(head), true);
    if (this.#section !== null && line.subarray(0, INSERT.length).equals(INSERT))
      this.#section.isOdd ||= !INSERT_LINE.test(line.subarray(0, INSERT_BYTES).toString("latin1"));
    const text = line.subarray(0, HEAD_BYTES).toString("utf8");
    if (text.startsWith("DELIMITER ")) this.#isCode = text !== "DELIMITER ;";
    if (this.#isCode) return;
    const used = /^USE `((?:[^`]|``)+)`;$/.exec(text)?.[1];
    if (used !== undefined) this.#database = used.replaceAll("``", "`");
    const locked = /^LOCK TABLES `((?:[^`]|``)+)` WRITE;$/.exec(text)?.[1];
    if (locked !== undefined) this.#open(locked.replaceAll("``", "`"));
    if (text === "UNLOCK TABLES;" && this.#section !== null) {
      this.#section.isComplete = true;
      this.#section = null;
    }
  }

  #open(table: string): void {
    const name = JSON.stringify([this.#database, table]);
    const before = this.#tables.get(name);
    this.#section = before ?? {
      database: this.#database,
      table,
      rows: 0n,
      sum: this.#key === null ? null : new RowSum(this.#key),
      isComplete: false,
      isOdd: false,
    };
    // A real dump has all rows of a table in one place.
    this.#section.isOdd ||= before !== undefined;
    this.#tables.set(name, this.#section);
  }

  #rowPart(part: Buffer, isEnd: boolean): void {
    this.#isInRow = !isEnd;
    if (this.#section === null || this.#isCode) return;
    if (this.#splitter === null) this.#addToRow(part, isEnd);
    else if (!this.#splitter.add(part, isEnd)) this.#section.isOdd = true;
  }

  #addToRow(part: Buffer, isEnd: boolean): void {
    if (this.#section === null) return;
    this.#section.sum?.add(part, isEnd);
    if (isEnd) this.#section.rows += 1n;
  }
}

/**
 * The length of what comes before the first row in the line; 0 if the line is no INSERT with a row.
 */
function headLength(line: Buffer): number {
  if (!line.subarray(0, INSERT.length).equals(INSERT)) return 0;
  return INSERT_HEAD.exec(line.subarray(0, INSERT_BYTES).toString("latin1"))?.[0].length ?? 0;
}
