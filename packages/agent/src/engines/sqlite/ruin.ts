import { constants, type DatabaseSync } from "node:sqlite";
import { errorMessage } from "@attestore/host/errno";
import type { RuinedCopy } from "./protocol.ts";
import { quotedName } from "../quoted-name.ts";

/** Enough to show whether a check can fail. */
const MAX_WAYS = 24;
/** The start of RFC 3339, and of what SQLite's own functions print. */
const DATE = "'[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]*'";
/** Larger numbers are milliseconds. */
const SECONDS = 1e11;

interface Way {
  readonly how: string;
  readonly table: string;
  /** Whether there is something to ruin. */
  readonly before: string;
  readonly statement: string;
}

/**
 * Ruins the data that a query reads, each way in a transaction that is rolled back. SQLite tells
 * what the query reads when it prepares it. `ask` runs the query.
 */
export function ruinInTurn(database: DatabaseSync, sql: string, ask: () => readonly string[]): RuinedCopy[] {
  const read = readBy(database, sql);
  const ways = [...waysOf(database, read)];
  database.exec("pragma foreign_keys = off; pragma ignore_check_constraints = on");
  const ruined = ways.slice(0, MAX_WAYS).map(({ how, ...way }): RuinedCopy => {
    if (!("statement" in way)) return { how, reason: way.reason };
    database.exec("pragma query_only = off; begin");
    try {
      const refusal = ruin(database, way);
      if (refusal !== null) return { how, reason: refusal };
      database.exec("pragma query_only = on");
      try {
        return { how, rows: ask() };
      } catch (error) {
        return { how, error: errorMessage(error) };
      }
    } finally {
      database.exec("rollback");
    }
  });
  return ways.length <= MAX_WAYS
    ? ruined
    : [
        ...ruined,
        { how: `${ways.length - MAX_WAYS} more ways`, reason: "the check reads too many tables and columns" },
      ];
}

function ruin(database: DatabaseSync, { table, before, statement }: Omit<Way, "how">): string | null {
  try {
    if (database.prepare(before).get() === undefined) return "there is nothing in it";
    const triggers = database
      .prepare("select name from sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase")
      .all(table);
    for (const { name } of triggers) database.exec(`drop trigger ${quotedName(String(name))}`);
    database.exec(statement);
    return null;
  } catch {
    return "SQLite refused it";
  }
}

/** The tables, each with the columns that the query names. */
export function readBy(database: DatabaseSync, sql: string): Map<string, Set<string>> {
  const read = new Map<string, Set<string>>();
  database.setAuthorizer((action, table, column) => {
    if (action === constants.SQLITE_READ && table !== null && !/^sqlite_/i.test(table)) {
      const columns = read.get(table) ?? new Set();
      if (column !== null && column !== "") columns.add(column);
      read.set(table, columns);
    }
    return constants.SQLITE_OK;
  });
  try {
    database.prepare(sql);
  } finally {
    database.setAuthorizer(null);
  }
  return read;
}

function* waysOf(
  database: DatabaseSync,
  read: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<Way | { readonly how: string; readonly reason: string }> {
  const kinds = database.prepare("select type from pragma_table_list where schema = 'main' and name = ?");
  const tables = [...read].flatMap(([table, columns]) => {
    const kind = kinds.get(table)?.["type"];
    return kind === undefined || kind === "view" ? [] : [{ table, columns, isTable: kind === "table" }];
  });
  for (const { table, isTable } of tables) {
    const how = `an empty ${table}`;
    const name = quotedName(table);
    if (!isTable) yield { how, reason: "it is a virtual table or belongs to one" };
    else yield { how, table, before: `select 1 from ${name} limit 1`, statement: `delete from ${name}` };
  }
  for (const { table, columns, isTable } of tables) {
    if (!isTable) continue;
    const defined = database
      .prepare(`select name, type, "notnull", pk, hidden from pragma_table_xinfo(?) order by cid`)
      .all(table);
    for (const { name, type, notnull, pk, hidden } of defined) {
      const column = String(name);
      if (!columns.has(column) || hidden !== 0) continue;
      const [of, to] = [quotedName(column), quotedName(table)];
      if (notnull === 0 && pk === 0)
        yield {
          how: `${table}.${column} null in every row`,
          table,
          before: `select 1 from ${to} where ${of} is not null limit 1`,
          statement: `update ${to} set ${of} = null`,
        };
      const isTime = timeOf(of, String(type));
      if (database.prepare(`select 1 from ${to} where ${isTime} limit 1`).get() !== undefined)
        yield {
          how: `${table}.${column} a year older`,
          table,
          before: "select 1",
          statement: `update ${to} set ${of} = case when typeof(${of}) = 'text' then printf('%04d', substr(${of}, 1, 4) - 1) || substr(${of}, 5)
            when ${of} > ${SECONDS} then ${of} - 31536000000 else ${of} - 31536000 end where ${isTime}`,
        };
    }
  }
}

/** Texts that begin with a date, and numbers in a column whose type says that it has times. */
function timeOf(column: string, type: string): string {
  const isText = `typeof(${column}) = 'text' and ${column} glob ${DATE}`;
  return /date|time/i.test(type)
    ? `(${isText} or typeof(${column}) in ('integer', 'real') and ${column} > 1e8)`
    : `(${isText})`;
}
