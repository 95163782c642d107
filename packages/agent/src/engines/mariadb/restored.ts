import { randomBytes } from "node:crypto";
import type { CheckOutcome } from "@attestore/proof";
import type { QueryOutcome } from "../../checks/index.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { checkTables } from "../check-tables.ts";
import type {
  ContentComparison,
  ForeignMetadata,
  InferredContext,
  QueryLimits,
  Restored,
} from "../engine.ts";
import { schemaHash } from "../schema.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { openSession, READER } from "./accounts.ts";
import { compareListed } from "./content/compare-objects.ts";
import { compareRows } from "./content/compare-rows.ts";
import { countKinds } from "./count-kinds.ts";
import { limited, schemaOf, tablesOf } from "./describe.ts";
import { releaseOf } from "./programs.ts";
import { jsonRow } from "./json-row.ts";
import { type MariadbSession, quoted, SessionEnded, type Statement } from "./session.ts";
import { connectionFailed, isFull, isOfThePlace, rowsOf } from "./session-error.ts";
import { historyName, OWN_DATABASES } from "./schema.ts";

/** More characters than a check accepts, so that the check can say what is wrong. */
const MAX_ROW = 300_000;
const TIMED_OUT: ReadonlySet<number> = new Set([1969, 3024]);

export class RestoredMariadb implements Restored {
  readonly #server: ScratchServer;
  readonly #admin: MariadbSession;
  readonly #databases: readonly string[];

  /**
   * `admin` may do everything, so no query of a check runs in it. It is closed with the restored
   * copy. Queries of checks run in the first of the databases.
   */
  constructor(server: ScratchServer, admin: MariadbSession, databases: readonly string[]) {
    this.#server = server;
    this.#admin = admin;
    this.#databases = databases;
  }

  /** Null for another release, which may print the same schema differently. */
  fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const { engine_version: version } = metadata;
    const here = this.#server.runtime.engine_version;
    if (typeof version !== "string" || releaseOf(version) !== releaseOf(here)) return Promise.resolve(null);
    return this.#guarded(signal, async () =>
      schemaHash(await schemaOf(this.#admin, this.#databases, version)),
    );
  }

  query(text: string, { timeout_s, signal }: QueryLimits): Promise<QueryOutcome> {
    const [database] = this.#databases;
    if (database === undefined) return Promise.resolve({ kind: "error", message: "nothing was restored" });
    return this.#asReader(signal, (reader) =>
      runQuery({ admin: this.#admin, reader }, text, database, timeout_s),
    );
  }

  tables(signal: AbortSignal): Promise<readonly string[]> {
    return this.#guarded(signal, async () =>
      (await tablesOf(this.#admin, this.#databases)).flatMap(({ name, isVersioned }) =>
        isVersioned ? [name, historyName(name)] : [name],
      ),
    );
  }

  objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#guarded(signal, () => countKinds(this.#admin, this.#databases));
  }

  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const { signal } = context;
    return this.#asReader(signal, async (reader) => {
      const tables = await tablesOf(this.#admin, this.#databases);
      const sqlNames = new Map(
        tables.flatMap(({ name, database, table, isVersioned }) => {
          const from = `${quoted(database)}.${quoted(table)}`;
          const all = [historyName(name), `${from} for system_time all`] as const;
          return isVersioned ? [[name, from] as const, all] : [[name, from] as const];
        }),
      );
      const countQuery = (name: string): string =>
        `select count(*) as \`rows\` from ${sqlNames.get(name) ?? name}`;
      return checkTables({
        ...context,
        tables: [...sqlNames.keys()],
        readOne: async (name) =>
          outcomeOf(await reader.runForeign(`select 1 from ${sqlNames.get(name) ?? ""} limit 1`), 0).kind ===
          "rows",
        count: async (name, seconds) => {
          const sql = countQuery(name);
          const version = this.#server.runtime.engine_version;
          const counted = await reader.runForeign(
            seconds === undefined ? sql : limited(version, sql, seconds),
          );
          return counted.ok
            ? { kind: "rows", rows: [`{"rows":${counted.rows[0]?.[0] ?? "null"}}`] }
            : outcomeOf(counted, seconds ?? 0);
        },
        countQuery,
      });
    });
  }

  compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    return this.#guarded(comparison.signal, async () => {
      const tables = await tablesOf(this.#admin, this.#databases);
      const databases = this.#databases;
      const rows = await compareRows(this.#server, { databases, tables }, comparison);
      const version = this.#server.runtime.engine_version;
      const objects = await compareListed(this.#admin, { databases, version }, comparison);
      return [rows, objects].filter((each) => each !== null);
    });
  }

  async close(): Promise<void> {
    await this.#admin.close();
    await this.#server.close();
  }

  #asReader<Result>(signal: AbortSignal, use: (reader: MariadbSession) => Promise<Result>): Promise<Result> {
    return this.#guarded(signal, async () => {
      const reader = await openSession(this.#server, READER, signal);
      try {
        return await use(reader);
      } finally {
        await reader.close();
      }
    });
  }

  async #guarded<Result>(signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
    try {
      return await use();
    } catch (error) {
      stopIfAborted(signal);
      throw error instanceof SessionEnded
        ? connectionFailed("the scratch server broke during the checks", error)
        : error;
    }
  }
}

/**
 * Makes a view of the query, which tells the names and types of its columns without running it.
 * Then it selects from the view, in a transaction that cannot write, as an account that can only
 * read. The server prepares the query's text from a literal, so it is one statement, whatever it
 * contains. The view is in the restored database, because the server looks up functions where the
 * view is.
 */
async function runQuery(
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
    if (!limited.ok) await reader.run(`set session max_execution_time = ${timeout_s * 1000}`);
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
  const open = rowsOf(await session.run("show open tables"), "listing the open tables");
  return open.some(
    ([database = "", table]) => table !== view && !OWN_DATABASES.includes(database.toLowerCase()),
  );
}

function outcomeOf(statement: Statement, timeout_s: number): QueryOutcome {
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
