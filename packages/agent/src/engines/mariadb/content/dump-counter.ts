import { RowSum } from "./row-sum.ts";

/** Enough of a line to know what it begins, with the longest names that there are. */
const HEAD_BYTES = 1024;
/** The same of a statement that names the columns of its table. */
const INSERT_BYTES = 256 * 1024;
const [NEWLINE, PARENTHESIS] = [0x0a, 0x28];
const INSERT = Buffer.from("INSERT INTO ");
const NAME = "`(?:[^`]|``)+`";
const COLUMN = `(?:${NAME}|row_start|row_end)`;
/** What comes before the first row on the same line. */
const INSERT_HEAD = new RegExp(`^INSERT INTO ${NAME} (?:\\(${COLUMN}(?:, ?${COLUMN})*\\) )?VALUES (?=\\()`);
/** Where rows follow on lines of their own. */
const INSERT_LINE = new RegExp(`^INSERT INTO ${NAME} (?:\\(${COLUMN}(?:, ?${COLUMN})*\\) )?VALUES$`);

/** The rows that a dump has of a table. */
export interface DumpedTable {
  readonly database: string;
  readonly table: string;
  readonly rows: bigint;
  /** Null unless all of them were understood. */
  readonly sum: string | null;
}

interface Section extends Omit<DumpedTable, "rows" | "sum"> {
  rows: bigint;
  readonly sum: RowSum | null;
  isComplete: boolean;
  isOdd: boolean;
}

/**
 * Counts the rows of each table in what mariadb-dump writes, as it passes, and with a key adds up their digests: a row
 * a line, and line breaks within a value are written as `\n`. It does so between `LOCK TABLES` and
 * `UNLOCK TABLES` only, where nothing but rows is, and never within the text of a routine or
 * trigger, which comes between two `DELIMITER` lines.
 */
export class DumpCounter {
  readonly #key: Buffer | null;
  /** By database and table, as JSON. */
  readonly #tables = new Map<string, Section>();
  #database = "";
  #section: Section | null = null;
  #isCode = false;
  #isInRow = false;
  /** The beginning of a line whose end is in a later piece. */
  #begun: Buffer = Buffer.alloc(0);

  /** With the backup's key each table's rows have a sum too. */
  constructor(key?: Buffer) {
    this.#key = key ?? null;
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

  /** Null for a table that the dump has no data section of. */
  rowsOf(database: string, table: string): bigint | null {
    return this.#tables.get(JSON.stringify([database, table]))?.rows ?? null;
  }

  /** Those whose section has ended. */
  tables(): DumpedTable[] {
    return [...this.#tables.values()].flatMap(({ isComplete, isOdd, sum, ...own }) =>
      isComplete ? [{ ...own, sum: isOdd ? null : (sum?.hex() ?? null) }] : [],
    );
  }

  #lineFrom(part: Buffer, isEnd: boolean): void {
    if (part[0] === PARENTHESIS) {
      if (this.#section !== null) this.#rowPart(part, isEnd);
      // No row, and no beginning of anything.
      else if (!isEnd) this.#begun = Buffer.from("(");
    } else if (isEnd) this.#line(part);
    else this.#goOn(part, false);
  }

  /** A line that began in an earlier piece, or whose end is in a later one. */
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
    // No dump has a table's rows in two places.
    this.#section.isOdd ||= before !== undefined;
    this.#tables.set(name, this.#section);
  }

  #rowPart(part: Buffer, isEnd: boolean): void {
    this.#isInRow = !isEnd;
    if (this.#section === null || this.#isCode) return;
    this.#section.sum?.add(part, isEnd);
    if (isEnd) this.#section.rows += 1n;
  }
}

/** Of what comes before the first row in a line; 0 if this is no such line. */
function headLength(line: Buffer): number {
  if (!line.subarray(0, INSERT.length).equals(INSERT)) return 0;
  return INSERT_HEAD.exec(line.subarray(0, INSERT_BYTES).toString("latin1"))?.[0].length ?? 0;
}
