import { createHash, type Hash } from "node:crypto";
import { LargeObjectDigest, WRITE_END, WRITE_START } from "./large-object-digest.ts";
import { unquotedName } from "../../quoted-name.ts";
import { decoderOf } from "../printed/dump-encodings.ts";

/** The value that a dump gives to a sequence. */
export interface SequenceValue {
  readonly schema: string;
  readonly sequence: string;
  /** Null if the sequence gave no value yet. */
  readonly value: string | null;
  /** The value that such a sequence gives next. */
  readonly start: string | null;
}

/** The rows that a dump loads into one table. */
export interface TableContent {
  readonly schema: string;
  readonly table: string;
  /** In the dump's order. */
  readonly columns: readonly string[];
  /** SHA-256 in hex of the rows in COPY's format, each with its line feed. */
  readonly sha256: string;
}

/** Ends a table's rows. No row looks like this. */
const END = Buffer.from("\n\\.\n");
const NO_ROWS = Buffer.from("\\.\n");
/** Only this much of a piece is searched for a statement at first, because the rest may be rows. */
const WINDOW = 4096;
/** Enough for the names of 1,600 columns, and for one part of a large object. */
const MAX_STATEMENT = 1 << 20;

const NAME = String.raw`"(?:[^"]|"")+"|[^\s".,()]+`;
const COPY = new RegExp(String.raw`^COPY (${NAME})\.(${NAME}) (?:\(([^]*)\) )?\s*FROM stdin;\n$`);
/** One statement, whatever its names and texts contain. */
const STATEMENT = /^(?:[^'";]|'[^']*'|"[^"]*")*;\n/;
const SETVAL = /^SELECT pg_catalog\.setval\('((?:[^']|'')+)', (-?[0-9]{1,19}), (true|false)\);\n$/;
const QUALIFIED = new RegExp(`^(${NAME})\\.(${NAME})$`);
const ENCODING = /^SET client_encoding = '([A-Za-z0-9_]{1,32})';\n$/;

/**
 * Reads the data part of a dump as the SQL that pg_restore prints, and hashes the rows of each
 * table. It does not parse rows. It only finds where a table begins and ends, and the values of
 * sequences.
 */
export class CopyDigests {
  /** Null after something that no such dump contains. Then nothing is known. */
  #tables: TableContent[] | null = [];
  /** Null if one of them was not understood. */
  #sequences: SequenceValue[] | null = [];
  readonly #largeObjects = new LargeObjectDigest();
  #encoding: string | null = null;
  /** Of the dump's names. */
  #decode = decoderOf("UTF8");
  /**
   * Between tables: a statement that is not complete yet. Within rows: bytes that may begin their
   * end.
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
   * objects, and the encoding of the texts. Null if the dump was not understood to its end.
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

  /** Returns what comes after the next COPY; null if more input is needed. */
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
      if (this.#encoding === null) this.#readEncoding(statement);
      at += length;
      window = WINDOW;
      if (statement.startsWith("SELECT pg_catalog.setval(")) {
        const sequence = sequenceOf(this.#decode(bytes.subarray(at - length, at)));
        if (sequence === null) this.#sequences = null;
        else this.#sequences?.push(sequence);
      }
      if (/^SELECT pg_catalog\.lo_(?:open|close)\(/.test(statement)) this.#largeObjects.add(statement);
      if (!statement.startsWith("COPY ")) continue;
      const table = tableOf(this.#decode(bytes.subarray(at - length, at)));
      if (table === null) return this.#giveUp();
      this.#copying = { hash: createHash("sha256"), table, isFirst: true };
      return this.#go(bytes.subarray(at));
    }
  }

  #readEncoding(statement: string): void {
    const [, encoding = null] = ENCODING.exec(statement) ?? [];
    this.#encoding = encoding;
    if (encoding !== null) this.#decode = decoderOf(encoding);
  }

  /** Returns what comes after the table; null if everything was rows. */
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

  /** Keeps a copy, because a piece is valid only until the next one comes. */
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
 * The length of the statement, comment, psql command or empty line at the start of a text; null if
 * it does not end there.
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
  return { schema: unquotedName(schema), table: unquotedName(table), columns: names.map(unquotedName) };
}

function sequenceOf(statement: string): SequenceValue | null {
  const [, text = "", value = "", isCalled] = SETVAL.exec(statement) ?? [];
  const [, schema, sequence] = QUALIFIED.exec(text.replaceAll("''", "'")) ?? [];
  if (schema === undefined || sequence === undefined) return null;
  return {
    schema: unquotedName(schema),
    sequence: unquotedName(sequence),
    value: isCalled === "true" ? value : null,
    start: isCalled === "true" ? null : value,
  };
}
