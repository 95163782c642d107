import { createHash, type Hash } from "node:crypto";
import { LargeObjectDigest, WRITE_END, WRITE_START } from "./large-object-digest.ts";

/** What a dump sets a sequence to. */
export interface SequenceValue {
  readonly schema: string;
  readonly sequence: string;
  /** Null if nobody has called it. */
  readonly value: string | null;
}

/** What a dump loads into one table. */
export interface TableContent {
  readonly schema: string;
  readonly table: string;
  /** In the dump's order. */
  readonly columns: readonly string[];
  /** SHA-256 in hex of the rows as COPY has them, each with its line feed. */
  readonly sha256: string;
}

/** Ends a table's rows. No row is like it. */
const END = Buffer.from("\n\\.\n");
const NO_ROWS = Buffer.from("\\.\n");
/** As much of a piece is looked at for a statement first: what follows may be rows. */
const WINDOW = 4096;
/** Names of 1,600 columns are shorter, and so is a part of a large object. */
const MAX_STATEMENT = 1 << 20;

const NAME = String.raw`"(?:[^"]|"")+"|[^\s".,()]+`;
const COPY = new RegExp(String.raw`^COPY (${NAME})\.(${NAME}) (?:\(([^]*)\) )?\s*FROM stdin;\n$`);
/** One statement, whatever its names and texts hold. */
const STATEMENT = /^(?:[^'";]|'[^']*'|"[^"]*")*;\n/;
const SETVAL = /^SELECT pg_catalog\.setval\('((?:[^']|'')+)', (-?[0-9]{1,19}), (true|false)\);\n$/;
const QUALIFIED = new RegExp(`^(${NAME})\\.(${NAME})$`);
const ENCODING = /^SET client_encoding = '([A-Za-z0-9_]{1,32})';\n$/;

/**
 * Reads the data part of a dump as SQL, as pg_restore prints it, and hashes the rows of each table.
 * It reads no row: only where a table begins and ends, and what sequences are set to.
 */
export class CopyDigests {
  /** Null once something came that no such dump has: then nothing is known. */
  #tables: TableContent[] | null = [];
  /** Null once one was not understood. */
  #sequences: SequenceValue[] | null = [];
  readonly #largeObjects = new LargeObjectDigest();
  #encoding: string | null = null;
  /**
   * Of the statements: what is not a whole one yet. Of rows: the bytes that may begin their end.
   */
  #held: Buffer = Buffer.alloc(0);
  #copying: { readonly hash: Hash; readonly table: Omit<TableContent, "sha256">; isFirst: boolean } | null =
    null;

  add(piece: Buffer): void {
    let rest: Buffer | null = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    while (rest !== null && this.#tables !== null)
      rest = this.#copying === null ? this.#readStatements(rest) : this.#readRows(rest);
  }

  /**
   * The tables in the dump's order, the sequences if all were understood, a digest of the large
   * objects, and the encoding of its texts; null if it was not understood to its end.
   */
  end(): {
    readonly tables: readonly TableContent[];
    readonly sequences: readonly SequenceValue[] | null;
    readonly largeObjects: string | null;
    readonly encoding: string;
  } | null {
    const isWhole = this.#copying === null && this.#held.length === 0;
    return this.#tables === null || this.#encoding === null || !isWhole
      ? null
      : {
          tables: this.#tables,
          sequences: this.#sequences,
          largeObjects: this.#largeObjects.end(),
          encoding: this.#encoding,
        };
  }

  /** What comes after the next COPY; null when more has to come first. */
  #readStatements(bytes: Buffer): Buffer | null {
    for (let at = 0, window = WINDOW; ;) {
      const text = bytes.toString("latin1", at, at + window);
      if (text.startsWith(WRITE_START)) {
        const end = bytes.indexOf(WRITE_END, at);
        if (end === -1) return this.#hold(bytes.subarray(at));
        this.#largeObjects.add(bytes.toString("latin1", at, end + WRITE_END.length));
        at = end + WRITE_END.length;
        window = WINDOW;
        continue;
      }
      const length = lengthOfNext(text);
      if (length === null) {
        if (at + window >= bytes.length) return this.#hold(bytes.subarray(at));
        window *= 4;
        continue;
      }
      const statement = text.slice(0, length);
      this.#encoding ??= ENCODING.exec(statement)?.[1] ?? null;
      at += length;
      window = WINDOW;
      if (statement.startsWith("SELECT pg_catalog.setval(")) {
        const sequence = sequenceOf(bytes.toString("utf8", at - length, at));
        if (sequence === null) this.#sequences = null;
        else this.#sequences?.push(sequence);
      }
      if (/^SELECT pg_catalog\.lo_(?:open|close)\(/.test(statement)) this.#largeObjects.add(statement);
      if (!statement.startsWith("COPY ")) continue;
      const table = tableOf(bytes.toString("utf8", at - length, at));
      if (table === null) return this.#giveUp();
      this.#copying = { hash: createHash("sha256"), table, isFirst: true };
      return this.#go(bytes.subarray(at));
    }
  }

  /** What comes after the table; null when all of it was rows. */
  #readRows(bytes: Buffer): Buffer | null {
    const copying = this.#copying;
    if (copying === null || bytes.length < END.length) return this.#hold(bytes);
    if (copying.isFirst && bytes.subarray(0, NO_ROWS.length).equals(NO_ROWS)) {
      this.#ended(copying.hash, copying.table);
      return this.#go(bytes.subarray(NO_ROWS.length));
    }
    copying.isFirst = false;
    const at = bytes.indexOf(END);
    if (at === -1) {
      const until = bytes.length - (END.length - 1);
      copying.hash.update(bytes.subarray(0, until));
      return this.#hold(bytes.subarray(until));
    }
    copying.hash.update(bytes.subarray(0, at + 1));
    this.#ended(copying.hash, copying.table);
    return this.#go(bytes.subarray(at + END.length));
  }

  #ended(hash: Hash, table: Omit<TableContent, "sha256">): void {
    this.#tables?.push({ ...table, sha256: hash.digest("hex") });
    this.#copying = null;
  }

  #go(rest: Buffer): Buffer {
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** A copy: a piece is valid until the next one comes. */
  #hold(bytes: Buffer): null {
    if (bytes.length > MAX_STATEMENT) return this.#giveUp();
    this.#held = Buffer.from(bytes);
    return null;
  }

  #giveUp(): null {
    this.#tables = null;
    return null;
  }
}

/**
 * Of the statement, comment, command of psql's or empty line that a text begins with; null if it
 * does not end in there.
 */
function lengthOfNext(text: string): number | null {
  if (/^(?:--|\\|\n)/.test(text)) {
    const lineEnd = text.indexOf("\n");
    return lineEnd === -1 ? null : lineEnd + 1;
  }
  return STATEMENT.exec(text)?.[0].length ?? null;
}

function tableOf(statement: string): Omit<TableContent, "sha256"> | null {
  const [, schema, table, columns = ""] = COPY.exec(statement) ?? [];
  if (schema === undefined || table === undefined) return null;
  const names = columns.match(new RegExp(NAME, "g")) ?? [];
  return { schema: unquoted(schema), table: unquoted(table), columns: names.map(unquoted) };
}

function sequenceOf(statement: string): SequenceValue | null {
  const [, text = "", value = "", isCalled] = SETVAL.exec(statement) ?? [];
  const [, schema, sequence] = QUALIFIED.exec(text.replaceAll("''", "'")) ?? [];
  if (schema === undefined || sequence === undefined) return null;
  return {
    schema: unquoted(schema),
    sequence: unquoted(sequence),
    value: isCalled === "true" ? value : null,
  };
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}
