import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { WhyNotCompared } from "../../content/not-compared.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { quotedName } from "../../quoted-name.ts";
import { objectsOf, type ObjectsVersion } from "./objects.ts";
import { type Row, ROWS_AT_ONCE, RowsQuery } from "./rows-query.ts";
import { type TextInHex, textInHex } from "./text-in-hex.ts";

/** What a database holds, according to the process that opens it. */
export interface SqliteContent {
  readonly tables: readonly TableRows[];
  /** Tables whose rows are unknown. `code` is SQLite's if it could not read them. */
  readonly notRead: readonly NotRead[];
  readonly objects: readonly DatabaseObject[];
}

export interface NotRead {
  readonly name: string;
  readonly why: WhyNotCompared;
  readonly code?: number;
}

export interface TableRows {
  readonly name: string;
  readonly columns: readonly string[];
  /** In hex, over one line for each row; see docs/formats.md. */
  readonly sha256: string;
}

/** When to stop. */
export interface ReadingLimits {
  /** In the time of `performance.now()`. */
  readonly until: number;
  /**
   * Until then the open transaction continues. Then it ends, so that waiting processes can write.
   * If one does, nothing is known about what was read afterwards.
   */
  readonly transactionUntil?: number;
}

/** What is read besides rows. */
export interface ObjectsToRead {
  readonly version: ObjectsVersion;
  /** Has the database's header: the file itself, or a copy of it page by page. */
  readonly file: string;
}

/** Tables that store rows, including SQLite's own and those of virtual tables. */
const TABLES = `select name, wr from pragma_table_list
  where schema = 'main' and type in ('table', 'shadow') and name not in ('sqlite_schema', 'sqlite_temp_schema') order by name`;
const COLUMNS = "select name from pragma_table_xinfo(?) where hidden in (0, 3) order by cid";
/** How long others may have to wait for a table that can only be read at once. */
const MAX_WAIT_MS = 1_000;
const MIN_ROWID = -(2n ** 63n);
const MAX_ROWID = 2n ** 63n - 1n;
const HASHED_AT_ONCE = 1 << 16;

/** Reads everything in a database that is compared, the smallest tables first. */
export function readContent(
  database: DatabaseSync,
  limits: ReadingLimits,
  { version, file }: ObjectsToRead,
): SqliteContent {
  const tables: TableRows[] = [];
  const notRead: NotRead[] = [];
  const objects = objectsOf(database, version, file);
  const reading = new Reading(database, limits, textInHex(database, version !== 1));
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
  readonly #hex: TextInHex;
  /** The tables that were read after the transaction ended; null while it continues. */
  #afterwards: Set<string> | null = null;
  #version: unknown;

  constructor(database: DatabaseSync, limits: ReadingLimits, hex: TextInHex) {
    this.#database = database;
    this.#limits = limits;
    this.#hex = hex;
  }

  /** Or why it was not read to its end. */
  table({ name, hasRowid }: Table): TableRows | WhyNotCompared {
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
    const query = new RowsQuery(this.#database, { table: name, columns, rowid, hex: this.#hex });
    const { texts } = query;
    for (let from: bigint | null = MIN_ROWID; from !== null;) {
      let rows = 0;
      let last = "";
      for (const values of query.rows(from)) {
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

  /** Leaves out what was read while somebody else wrote. */
  certain(tables: readonly TableRows[], notRead: SqliteContent["notRead"]): Omit<SqliteContent, "objects"> {
    const uncertain = this.#afterwards;
    if (uncertain === null || !this.#hasChanged()) return { tables, notRead };
    const isUncertain = ({ name }: { readonly name: string }): boolean => uncertain.has(name);
    return {
      tables: tables.filter((each) => !isUncertain(each)),
      notRead: [
        ...notRead.filter((each) => !isUncertain(each)),
        ...[...uncertain].map((name) => ({ name, why: "source_changed" as const })),
      ],
    };
  }

  /** For tables that can only be read at once. */
  #otherWritersWaitUntil(): number {
    const { until, transactionUntil } = this.#limits;
    return transactionUntil === undefined
      ? until
      : Math.min(until, Math.max(transactionUntil, performance.now() + MAX_WAIT_MS));
  }

  /** `reading` is not at its end yet. */
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

  /** Changes after somebody else wrote. */
  #versionNow(): unknown {
    return this.#database.prepare("pragma data_version").get()?.["data_version"];
  }
}

/** For example `1,tC3A9,r,n;3ff8000000000000` and a line feed. */
function lineOf(values: Row, texts: number): string {
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

/** One of these names may be the name of a column. */
function rowidName(columns: readonly string[]): string | null {
  const taken = new Set(columns.map((column) => column.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name)) ?? null;
}

/** By the largest rowid, which SQLite finds at once. A table without rowids comes last. */
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
    const statement = database.prepare(`select coalesce(max(rowid), 0) as size from ${quotedName(table)}`);
    statement.setReadBigInts(true);
    return Number(statement.get()?.["size"]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
