import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { DatabaseObject } from "../../content/tagged-objects.ts";

/** What a database holds, as the process that opens it tells. */
export interface SqliteContent {
  readonly tables: readonly TableRows[];
  /** Those of whose rows nothing is known. `code` is SQLite's where it could not read them. */
  readonly notRead: readonly { readonly name: string; readonly why: string; readonly code?: number }[];
  readonly objects: readonly DatabaseObject[];
}

export interface TableRows {
  readonly name: string;
  readonly columns: readonly string[];
  /** In hex, over a line for each row; see docs/formats.md. */
  readonly sha256: string;
}

/** When to stop. */
export interface ReadingLimits {
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /**
   * Until then the transaction that is open goes on; it is then ended, so that those who wait for it can write. If they do, nothing
   * is known of what was read afterwards.
   */
  readonly transactionUntil?: number;
}

/** Tables that keep rows, SQLite's own and those of virtual tables too. */
const TABLES = `select name, wr from pragma_table_list
  where schema = 'main' and type in ('table', 'shadow') and name not in ('sqlite_schema', 'sqlite_temp_schema') order by name`;
const COLUMNS = "select name from pragma_table_xinfo(?) where hidden in (0, 3) order by cid";
const OBJECTS =
  "select type, tbl_name, name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\' order by rowid";
/** Of the file's header, what an application sets or relies on. */
const SETTINGS = ["application_id", "auto_vacuum", "encoding", "user_version"];
/** Between two of so many, others may write. */
const ROWS_AT_ONCE = 20_000;
/** How long others may have to wait for a table that cannot be read bit by bit. */
const MAX_WAIT_MS = 1_000;
const MIN_ROWID = -(2n ** 63n);
const MAX_ROWID = 2n ** 63n - 1n;
/** An expression of more has too many levels for SQLite. */
const COLUMNS_AT_ONCE = 100;
const HASHED_AT_ONCE = 1 << 16;

/** Everything in a database that is compared, the smallest tables first. */
export function readContent(database: DatabaseSync, limits: ReadingLimits): SqliteContent {
  const tables: TableRows[] = [];
  const notRead: { name: string; why: string; code?: number }[] = [];
  const objects = objectsOf(database);
  const reading = new Reading(database, limits);
  for (const table of smallestFirst(database)) {
    const { name } = table;
    try {
      const rows = reading.table(table);
      if (typeof rows === "string") notRead.push({ name, why: rows });
      else tables.push(rows);
    } catch (error) {
      const code =
        error instanceof Error && "errcode" in error && typeof error.errcode === "number"
          ? error.errcode
          : -1;
      notRead.push({ name, why: "not_read", code });
    }
  }
  return { ...reading.certain(tables, notRead), objects };
}

interface Table {
  readonly name: string;
  readonly hasRowid: boolean;
}

class Reading {
  readonly #database: DatabaseSync;
  readonly #limits: ReadingLimits;
  /** Those that were read after the transaction ended; null while it goes on. */
  #afterwards: Set<string> | null = null;
  #version: unknown;

  constructor(database: DatabaseSync, limits: ReadingLimits) {
    this.#database = database;
    this.#limits = limits;
  }

  /** Or why it was not read to its end. */
  table({ name, hasRowid }: Table): TableRows | string {
    if (performance.now() > this.#limits.until) return "no_time";
    if (this.#hasChanged()) return "source_changed";
    this.#afterwards?.add(name);
    const columns = this.#database
      .prepare(COLUMNS)
      .all(name)
      .map((row) => String(row["name"]));
    const rowid = hasRowid ? rowidName(columns) : null;
    const atOnceUntil = rowid === null ? this.#otherWritersWaitUntil() : this.#limits.until;
    const hash = createHash("sha256");
    let pending = "";
    const statement = this.#database.prepare(rowsQuery(name, columns, rowid));
    statement.setReturnArrays(true);
    const texts = Math.ceil(columns.length / COLUMNS_AT_ONCE) + (rowid === null ? 0 : 1);
    for (let from: bigint | null = MIN_ROWID; from !== null;) {
      let rows = 0;
      let last = "";
      for (const row of statement.iterate(...(rowid === null ? [] : [from])) as Iterable<unknown>) {
        const values = row as readonly (string | number | null)[];
        pending += lineOf(values, texts);
        if (pending.length > HASHED_AT_ONCE) {
          hash.update(pending, "latin1");
          pending = "";
        }
        last = String(values[0]);
        rows += 1;
        if (rows % 256 === 0 && performance.now() > atOnceUntil) return "no_time";
      }
      const isLast = rowid === null || rows < ROWS_AT_ONCE || BigInt(last) === MAX_ROWID;
      from = isLast ? null : BigInt(last) + 1n;
      if (this.#hasChanged()) return "source_changed";
      this.#letOthersWrite(name);
    }
    return { name, columns, sha256: hash.update(pending, "latin1").digest("hex") };
  }

  /** Without what was read while somebody wrote. */
  certain(tables: readonly TableRows[], notRead: SqliteContent["notRead"]): Omit<SqliteContent, "objects"> {
    const uncertain = this.#afterwards;
    if (uncertain === null || !this.#hasChanged()) return { tables, notRead };
    const isUncertain = ({ name }: { readonly name: string }): boolean => uncertain.has(name);
    return {
      tables: tables.filter((each) => !isUncertain(each)),
      notRead: [
        ...notRead.filter((each) => !isUncertain(each)),
        ...[...uncertain].map((name) => ({ name, why: "source_changed" })),
      ],
    };
  }

  /** For what can only be read at once. */
  #otherWritersWaitUntil(): number {
    const { until, transactionUntil } = this.#limits;
    return transactionUntil === undefined
      ? until
      : Math.min(until, Math.max(transactionUntil, performance.now() + MAX_WAIT_MS));
  }

  /** `reading` is not read to its end yet. */
  #letOthersWrite(reading: string): void {
    const { transactionUntil } = this.#limits;
    if (transactionUntil === undefined || this.#afterwards !== null) return;
    if (performance.now() <= transactionUntil) return;
    this.#version = this.#versionNow();
    this.#database.exec("commit");
    this.#afterwards = new Set([reading]);
  }

  #hasChanged(): boolean {
    return this.#afterwards !== null && this.#versionNow() !== this.#version;
  }

  /** Another one after somebody else wrote. */
  #versionNow(): unknown {
    return this.#database.prepare("pragma data_version").get()?.["data_version"];
  }
}

/**
 * Each row as texts and, where a value is a floating-point number, that: how SQLite prints such a number depends on
 * its version. Nothing is compared by a collation, which may be an application's own.
 */
function rowsQuery(table: string, columns: readonly string[], rowid: string | null): string {
  const texts = Array.from({ length: Math.ceil(columns.length / COLUMNS_AT_ONCE) }, (_, at) =>
    columns
      .slice(at * COLUMNS_AT_ONCE, (at + 1) * COLUMNS_AT_ONCE)
      .map((column) => valueText(quoted(column)))
      .join(" || ',' || "),
  );
  const reals = columns.map(
    (column) => `case when typeof(${quoted(column)}) = 'real' then ${quoted(column)} end`,
  );
  const selected = [...(rowid === null ? [] : [`cast(${rowid} as text)`]), ...texts, ...reals];
  const from = `select ${selected.join(", ")} from ${quoted(table)} not indexed`;
  return rowid === null ? from : `${from} where ${rowid} >= ? order by ${rowid} limit ${ROWS_AT_ONCE}`;
}

function valueText(column: string): string {
  return `case typeof(${column}) when 'integer' then cast(${column} as text) when 'text' then 't' || hex(${column}) when 'blob' then 'b' || hex(${column}) when 'real' then 'r' else 'n' end`;
}

/** `1,tC3A9,r,n;3ff8000000000000` and a line feed. */
function lineOf(values: readonly (string | number | null)[], texts: number): string {
  let line = String(values[0]);
  for (let at = 1; at < texts; at++) line += `,${String(values[at])}`;
  line += ";";
  for (let at = texts; at < values.length; at++) {
    const value = values[at];
    if (typeof value === "number") line += hexOf(value);
  }
  return `${line}\n`;
}

const eight = new DataView(new ArrayBuffer(8));

function hexOf(real: number): string {
  eight.setFloat64(0, real);
  return eight.getBigUint64(0).toString(16).padStart(16, "0");
}

/** A column may have taken one of the names. */
function rowidName(columns: readonly string[]): string | null {
  const taken = new Set(columns.map((column) => column.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name)) ?? null;
}

function objectsOf(database: DatabaseSync): DatabaseObject[] {
  const made = database
    .prepare(OBJECTS)
    .all()
    .map(({ type, tbl_name, name, sql }) => ({
      kind: String(type),
      name: String(name),
      definition: `${String(tbl_name)} ${String(sql ?? "")}`,
    }));
  const settings = SETTINGS.map((name) => ({
    kind: "setting",
    name,
    definition: String(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]),
  }));
  return [...made, ...settings];
}

/** By the largest rowid, which SQLite finds at once; a table without rowids comes last. */
function smallestFirst(database: DatabaseSync): Table[] {
  const sizes = database
    .prepare(TABLES)
    .all()
    .map(({ name, wr }) => ({
      name: String(name),
      hasRowid: wr === 0,
      size: sizeOf(database, String(name)),
    }));
  return sizes.toSorted(({ size: a }, { size: b }) => (a === b ? 0 : a - b));
}

function sizeOf(database: DatabaseSync, table: string): number {
  try {
    const statement = database.prepare(`select coalesce(max(rowid), 0) as size from ${quoted(table)}`);
    statement.setReadBigInts(true);
    return Number(statement.get()?.["size"]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
