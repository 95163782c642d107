import { createHash } from "node:crypto";
import { NOT_READ } from "../../content/compare-declared.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { tableParts } from "../content/object-rules.ts";
import { OWN_DATABASES, tableName } from "../schema.ts";

const NEWLINE = 0x0a;
/** The first letter of the line after a table's rows, and of a comment. */
const [UNLOCK, COMMENT] = [0x55, 0x2d];
/** The first and the last line of a dump. */
const HEADER = /^-- (?:MySQL|MariaDB) dump /;
/** With `--compatible=ansi` or `oracle`, names are in double quotes. */
const ANSI = '-- Current Database: "';
const COMPLETED = "-- Dump completed";
/** The rest of a longer line is not looked at. */
const MAX_LINE = 64 * 1024;
/** A longer table is not read. */
const MAX_TABLE = 4 << 20;
const MAX_OBJECTS = 100_000;
const ANY_NAME = "`(?:[^`]|``)*`";
const NAME = "`((?:[^`]|``)+)`";
const USE = new RegExp(`^USE ${NAME};$`);
const TABLE = new RegExp(`^CREATE TABLE ${NAME} \\($`);
/** Before it comes a table or view that only has its columns. */
const VIEW = new RegExp(`^/\\*!50001 VIEW ${NAME} AS `);
/** A trigger's text is as somebody wrote it. */
const TRIGGER = new RegExp(
  `^/\\*!50003 CREATE\\*/ .*/\\*!50003 TRIGGER +(?:IF +NOT +EXISTS +)?(?:(?:${ANY_NAME}|[A-Za-z0-9_$]+)\\.)?(?:${NAME}|([A-Za-z0-9_$]+))\\s`,
  "i",
);
const ROUTINE = new RegExp(
  `^CREATE (?:OR REPLACE )?DEFINER=${ANY_NAME}(?:@${ANY_NAME})? (?:AGGREGATE )?(PROCEDURE|FUNCTION) ${NAME}\\(`,
);
const SEQUENCE = new RegExp(`^CREATE SEQUENCE ${NAME} `);

/**
 * Reads which objects the text of mysqldump or mariadb-dump creates, while it passes, but no rows:
 * tables, indexes and constraints with their definitions; views, triggers, routines and sequences
 * by name.
 */
export class DeclaredSql {
  readonly #objects: DatabaseObject[] = [];
  readonly #tables = new Set<string>();
  #isTwice = false;
  /** Whether names are in other quotes than are read. */
  #isOtherwise = false;
  readonly #unnamedDatabase: string;
  #database: string;
  #begun: Buffer = Buffer.alloc(0);
  #isData = false;
  /** What ends a statement between two DELIMITER lines; null outside them. */
  #delimiter: string | null = null;
  /** Whether the line before belongs to the same statement there. */
  #isInStatement = false;
  /** Whether a dump has begun that is not complete yet. */
  #isBegun = false;
  #isCutShort = false;
  /** A table so far: its lines, their length, and whether its columns have ended. */
  #table: {
    readonly name: string;
    readonly lines: string[];
    length: number;
    isCut: boolean;
    hasColumns: boolean;
  } | null = null;

  /** `database`: where a dump is restored that names none. */
  constructor(database: string) {
    this.#unnamedDatabase = database;
    this.#database = database;
  }

  add(piece: Buffer): void {
    for (let rest = piece; rest.length > 0;) {
      const newline = rest.indexOf(NEWLINE);
      const isRow = rest[0] !== UNLOCK && rest[0] !== COMMENT;
      if (this.#isData && newline !== -1 && this.#begun.length === 0 && isRow) {
        rest = rest.subarray(newline + 1);
        continue;
      }
      const part = newline === -1 ? rest : rest.subarray(0, newline);
      const line = Buffer.concat([this.#begun, part.subarray(0, MAX_LINE - this.#begun.length)]);
      this.#begun = newline === -1 ? line : Buffer.alloc(0);
      if (newline === -1) return;
      this.#line(line);
      rest = rest.subarray(newline + 1);
    }
  }

  /** Whether the file has several dumps, and one begins before the one before it is complete. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /** Null if there are more than are remembered, if a table comes twice, or of other quotes. */
  end(): readonly DatabaseObject[] | null {
    return this.#isTwice || this.#isOtherwise || this.#objects.length > MAX_OBJECTS ? null : this.#objects;
  }

  #line(bytes: Buffer): void {
    if (this.#delimiter === null && bytes[0] === COMMENT) this.#comment(bytes.toString("latin1"));
    // Only the end of a section with rows matters there.
    if (this.#isData) {
      this.#isData = bytes[0] !== UNLOCK || bytes.toString("latin1") !== "UNLOCK TABLES;";
      return;
    }
    const line = bytes.toString("utf8");
    if (this.#table !== null) return this.#ofTable(line, bytes.length);
    if (line.startsWith("DELIMITER ")) {
      const delimiter = line.slice("DELIMITER ".length).trim();
      [this.#delimiter, this.#isInStatement] = [delimiter === ";" ? null : delimiter, false];
    } else if (this.#delimiter !== null) this.#code(line, this.#delimiter);
    else if (line.startsWith("LOCK TABLES ")) this.#isData = true;
    else this.#statement(line, bytes.length);
  }

  #comment(line: string): void {
    this.#isOtherwise ||= line.startsWith(ANSI);
    if (line.startsWith(COMPLETED)) this.#isBegun = false;
    if (!HEADER.test(line)) return;
    this.#isCutShort ||= this.#isBegun;
    this.#isBegun = true;
  }

  #statement(line: string, length: number): void {
    const database = USE.exec(line)?.[1];
    if (database !== undefined) this.#database = named(database);
    const table = TABLE.exec(line)?.[1];
    if (table !== undefined)
      this.#table = { name: this.#nameOf(table), lines: [line], length, isCut: false, hasColumns: false };
    const view = VIEW.exec(line)?.[1];
    if (view !== undefined) this.#add("view", this.#nameOf(view), "");
    const sequence = SEQUENCE.exec(line)?.[1];
    if (sequence !== undefined) this.#add("sequence", this.#nameOf(sequence), "");
  }

  #ofTable(line: string, length: number): void {
    const table = this.#table;
    if (table === null) return;
    table.length += length;
    table.isCut ||= length >= MAX_LINE || table.length > MAX_TABLE;
    if (table.length <= MAX_TABLE) table.lines.push(line);
    // Lines after the columns, such as partitions, may continue on the next line.
    table.hasColumns ||= line.startsWith(")");
    if (!table.hasColumns || !line.endsWith(";")) return;
    this.#table = null;
    // With several dumps in one file, the last one counts, and the objects of the first are gone.
    this.#isTwice ||= this.#tables.has(table.name);
    this.#tables.add(table.name);
    if (table.isCut) return this.#push("table", table.name, NOT_READ);
    const text = table.lines.join("\n").slice(0, -1);
    for (const { kind, name, definition } of tableParts(table.name, text)) this.#add(kind, name, definition);
  }

  /** Only the first line of a statement says what it makes: the others are somebody's text. */
  #code(line: string, delimiter: string): void {
    const isFirst = !this.#isInStatement;
    this.#isInStatement = !line.trimEnd().endsWith(delimiter);
    if (!isFirst) return;
    const trigger = TRIGGER.exec(line);
    const [, kind, routine] = ROUTINE.exec(line) ?? [];
    if (trigger !== null) this.#add("trigger", this.#nameOf(trigger[1] ?? trigger[2] ?? ""), "");
    else if (kind !== undefined && routine !== undefined)
      this.#add(kind.toLowerCase(), this.#nameOf(routine), "");
  }

  #nameOf(name: string): string {
    return tableName(this.#database === "" ? this.#unnamedDatabase : this.#database, named(name));
  }

  #add(kind: string, name: string, definition: string): void {
    this.#push(kind, name, hashed(definition));
  }

  #push(kind: string, name: string, definition: string): void {
    // A copy never gets the server's own databases.
    if (OWN_DATABASES.includes(this.#database.toLowerCase())) return;
    if (this.#objects.length <= MAX_OBJECTS) this.#objects.push({ kind, name, definition });
  }
}

function named(quoted: string): string {
  return quoted.replaceAll("``", "`");
}

/** An object that is compared only by its name has the definition of an empty text. */
export const ONLY_A_NAME = hashed("");

/** As `listObjects` does it for objects with one text. */
function hashed(definition: string): string {
  return createHash("sha256")
    .update(JSON.stringify([definition]))
    .digest("hex");
}
