import type { QueryOutcome } from "../../../checks/index.ts";
import { RunError } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { isServerError } from "../connection/server-error.ts";
import type { PsqlSession, Statement } from "../connection/psql-session.ts";
import { isOfThePlace } from "../connection/session-error.ts";

/** More than the evaluator accepts, so that the evaluator says what is wrong. */
const MAX_ROW = 300_000;
const TIMED_OUT = "57014";

/** Counts the scans in the open transaction of tables that are not the server's own. */
const TABLES_READ =
  "select coalesce(pg_catalog.sum(coalesce(seq_scan, 0) operator(pg_catalog.+) coalesce(idx_scan, 0)), 0) from pg_catalog.pg_stat_xact_user_tables";

/**
 * Runs a check's query in a copy. Computes at most two rows, and returns at most one.
 * @throws RunError if the sandbox failed, not the query; SessionEnded
 */
export async function runQuery(
  server: ScratchServer,
  session: PsqlSession,
  text: string,
  timeout_s: number,
): Promise<QueryOutcome> {
  ownOutput(await session.run(`set statement_timeout = ${Math.ceil(timeout_s * 1000)}`));
  ownOutput(await session.run("begin"));
  const { outcome, read } = await askInTransaction(server, session, text, timeout_s);
  ownOutput(await session.run("rollback"));
  return outcome.kind === "rows" && read === "0" ? { ...outcome, readsNoData: true } : outcome;
}

/** The same in the open transaction. `read` is the number of scans of tables in it so far. */
export async function askInTransaction(
  server: ScratchServer,
  session: PsqlSession,
  text: string,
  timeout_s: number,
): Promise<{ readonly outcome: QueryOutcome; readonly read: string }> {
  // Names in the query are looked up with the restored database's own search_path.
  ownOutput(await session.run("reset search_path"));
  const inner = text.replace(/[;\s]+$/, "");
  // The line break ends a comment at the end of the query. Our own words must be the server's, also
  // where the database has a function or an operator of the same name.
  const statement = await session.runForeign(
    `with q as materialized (select * from (${inner}\n) q limit 2)
     select pg_catalog.concat((select pg_catalog.count(*) from q), ' ', (select pg_catalog.left(pg_catalog.row_to_json(q)::pg_catalog.text, ${MAX_ROW}) from q limit 1))`,
  );
  const read = statement.ok ? ownOutput(await session.run(TABLES_READ)).trim() : "";
  return { outcome: await outcomeOf(server, statement, timeout_s), read };
}

/** The outcome of the statement in which `askInTransaction` wraps a query. */
export async function outcomeOf(
  server: ScratchServer,
  statement: Statement,
  timeout_s: number,
): Promise<QueryOutcome> {
  if (statement.ok) {
    const [, count = "0", row = ""] = /^([012]) ([^]*)\n$/.exec(statement.output) ?? [];
    return { kind: "rows", rows: count === "0" ? [] : count === "1" ? [row] : [row, row] };
  }
  const { sqlstate, message } = statement;
  if (sqlstate === TIMED_OUT) return { kind: "timeout", after_s: timeout_s };
  if (isOfThePlace(sqlstate) && (await isServerError(server, sqlstate))) throw notOfTheQuery(sqlstate);
  return { kind: "error", message, sqlstate };
}

/** @throws RunError because the sandbox failed, not the query. */
export function ownOutput(statement: Statement): string {
  if (statement.ok) return statement.output;
  throw notOfTheQuery(statement.sqlstate);
}

export function isTimedOut(statement: Statement): boolean {
  return !statement.ok && statement.sqlstate === TIMED_OUT;
}

function notOfTheQuery(sqlstate: string): RunError {
  const full = sqlstate === "53100";
  return new RunError(
    full ? "disk_full" : "sandbox_failed",
    full
      ? "the scratch directory's file system filled up during the checks: give it more space"
      : `the scratch PostgreSQL failed during the checks (SQLSTATE ${sqlstate})`,
  );
}
