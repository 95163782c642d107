import { randomBytes } from "node:crypto";
import type { QueryOutcome } from "../../../checks/index.ts";
import { RunError } from "../../../errors/run-error.ts";
import { READER } from "./accounts.ts";
import { jsonRow } from "./json-row.ts";
import { type MariadbSession, quoted, type Statement } from "../connection/session.ts";
import { isFull, isOfThePlace, rowsOf } from "../connection/session-error.ts";
import { OWN_DATABASES } from "../schema.ts";

/** More characters than a check accepts, so that the check can say what is wrong. */
const MAX_ROW = 300_000;
const TIMED_OUT: ReadonlySet<number> = new Set([1969, 3024]);

/**
 * Makes a view of the query, which tells the names and types of its columns without running it.
 * Then it selects from the view, in a transaction that cannot write, as an account that can only
 * read. The server prepares the query's text from a literal, so it is one statement, whatever it
 * contains. The view is in the restored database, because the server looks up functions where the
 * view is.
 */
export async function runQuery(
  { admin, reader }: { readonly admin: MariadbSession; readonly reader: MariadbSession },
  text: string,
  database: string,
  timeout_s: number,
): Promise<QueryOutcome> {
  const view = `attestore_${randomBytes(6).toString("hex")}`;
  // Close all tables: those that are open afterwards, the query has opened.
  await admin.run("flush tables");
  const inner = text.replace(/[;\s]+$/, "");
  const made = `create definer = ${READER}@localhost view ${view} as select * from (${inner}\n) q limit 2`;
  const use = `use ${quoted(database)}`;
  try {
    for (const done of [await admin.run(use), await admin.runForeign(made), await reader.run(use)])
      if (!done.ok) return outcomeOf(done, timeout_s);
    const columns = await admin.run(
      `select column_name, if(column_type like '%zerofill%', 'year', data_type) from information_schema.columns
       where table_schema = database() and table_name = '${view}' order by ordinal_position`,
    );
    if (!columns.ok) return outcomeOf(columns, timeout_s);
    if (columns.rows.length === 0) return { kind: "error", message: "the query's columns are unknown" };
    const limited = await reader.run(`set session max_statement_time = ${timeout_s}`);
    if (!limited.ok) await reader.run(`set session max_execution_time = ${Math.ceil(timeout_s * 1000)}`);
    await reader.run("start transaction read only");
    const rows = await reader.run(`select left(${jsonRow(columns.rows)}, ${MAX_ROW}) from ${view} limit 2`);
    const outcome = outcomeOf(rows, timeout_s);
    if (outcome.kind !== "rows" || (await hasOpened(admin, view))) return outcome;
    return { ...outcome, readsNoData: true };
  } finally {
    await reader.run("rollback");
    await admin.run(`drop view if exists ${quoted(database)}.${view}`);
  }
}

/** Whether any table is open except the server's own and the query's view. */
async function hasOpened(session: MariadbSession, view: string): Promise<boolean> {
  return (await openTables(session)).some(
    ([database = "", table]) => table !== view && !OWN_DATABASES.includes(database.toLowerCase()),
  );
}

/** Database and name of each, views among them. After a query these are those that it opened. */
export async function openTables(session: MariadbSession): Promise<readonly (readonly string[])[]> {
  return rowsOf(await session.run("show open tables"), "listing the open tables");
}

export function outcomeOf(statement: Statement, timeout_s: number): QueryOutcome {
  if (statement.ok) return { kind: "rows", rows: statement.rows.map(([row = ""]) => row) };
  const { code, message } = statement;
  if (TIMED_OUT.has(code)) return { kind: "timeout", after_s: timeout_s };
  if (isFull(code)) {
    throw new RunError(
      "disk_full",
      "the scratch directory's file system filled up during the checks: give it more space",
    );
  }
  if (isOfThePlace(code))
    throw new RunError("sandbox_failed", `the scratch server failed during the checks (error ${code})`);
  return { kind: "error", message };
}
