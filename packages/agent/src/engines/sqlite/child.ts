import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { backup, DatabaseSync } from "node:sqlite";
import { errorMessage } from "@attestore/host/errno";
import { formatRow } from "../../checks/index.ts";
import { OBJECTS_VERSION } from "./content/objects.ts";
import { readContent, type SqliteContent } from "./content/row-digests.ts";
import { profileTables } from "./profile-tables.ts";
import { readBy, ruinInTurn } from "./ruin.ts";
import type { Request, Response } from "./protocol.ts";

/**
 * Runs in the process that opens databases. SQLite blocks its thread while a statement runs, and
 * nothing in the process can interrupt it. In a process of its own it does not block the agent, and
 * it can be killed.
 * Each request is one line of JSON, and so is each response. They come in the same order.
 */
export async function serveSqlite(input: Readable, output: Writable): Promise<void> {
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as Request;
    let response: Response;
    try {
      response = { ok: true, ...(await answer(request)) };
    } catch (error) {
      response = { ok: false, ...describe(error) };
    }
    output.write(`${JSON.stringify(response)}\n`);
  }
}

async function answer(request: Request): Promise<Partial<Extract<Response, { ok: true }>>> {
  switch (request.op) {
    case "copy":
      return copied(request);
    case "content": {
      const until = performance.now() + request.budget_ms;
      const besides = { version: request.objectsVersion, file: request.path };
      return withDatabase(request.path, (database) => ({
        content: readContent(database, { until }, besides),
      }));
    }
    case "profile": {
      const { path, seed, budget_ms } = request;
      const until = performance.now() + budget_ms;
      return withDatabase(path, (database) => ({ profile: profileTables(database, { seed, until }) }));
    }
    case "recover": {
      // The first read undoes a transaction, or takes over a log.
      const database = new DatabaseSync(request.path);
      try {
        const rows = rowsOf(database, "select count(*) from sqlite_schema");
        // Closing would do this too, but would not say that it did not.
        const { busy } = database.prepare("pragma wal_checkpoint(truncate)").get() ?? {};
        if (busy !== 0) throw new Error("its log could not be taken over");
        return { rows };
      } finally {
        database.close();
      }
    }
    case "version":
      return withDatabase(":memory:", (database) => ({ rows: rowsOf(database, "select sqlite_version()") }));
    case "list":
      return withDatabase(request.path, (database) => ({ rows: rowsOf(database, request.sql) }));
    case "query":
      return withDatabase(request.path, (database) => queried(database, request.sql));
    case "ruin": {
      const { path, sql } = request;
      return withDatabase(
        path,
        (database) => ({
          ruined: ruinInTurn(database, innerOf(sql), () => queried(database, sql).rows),
        }),
        false,
      );
    }
  }
}

/** The rows at the source are read in the same transaction in which the copy is made. */
async function copied({
  path,
  target,
  contentBudget_ms,
}: Extract<Request, { op: "copy" }>): Promise<{ content?: SqliteContent }> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 60_000 });
  try {
    database.exec("pragma trusted_schema = off; begin");
    database.prepare("select 1 from sqlite_schema").get();
    const started = performance.now();
    // Copy all pages in one step. In several steps, each write of another process in between would
    // start it again.
    await backup(database, target, { rate: 2 ** 31 - 1 });
    if (contentBudget_ms === 0) return {};
    const copying_ms = performance.now() - started;
    return contentOf(database, contentBudget_ms, { copying_ms, isUri: path.startsWith("file:"), target });
  } finally {
    database.close();
  }
}

/** If readers block writers, writers wait no longer than the copy took, or one second. */
function contentOf(
  database: DatabaseSync,
  budget_ms: number,
  {
    copying_ms,
    isUri,
    target,
  }: { readonly copying_ms: number; readonly isUri: boolean; readonly target: string },
): { content?: SqliteContent } {
  const now = performance.now();
  try {
    // A URI names a database in WAL mode that nobody has open, and SQLite locks nothing.
    const isWal = isUri || database.prepare("pragma journal_mode").get()?.["journal_mode"] === "wal";
    const limits = {
      until: now + budget_ms,
      ...(isWal ? {} : { transactionUntil: now + Math.max(copying_ms, MIN_WAIT_MS) }),
    };
    return { content: readContent(database, limits, { version: OBJECTS_VERSION, file: target }) };
  } catch {
    // The copy is made anyway. The metadata say that nothing is known of its content.
    return {};
  }
}

const MIN_WAIT_MS = 1_000;

function withDatabase<Result>(
  path: string,
  use: (database: DatabaseSync) => Result,
  readOnly = path !== ":memory:",
): Result {
  const database = new DatabaseSync(path, { readOnly });
  try {
    database.exec("pragma query_only = on; pragma trusted_schema = off; pragma cell_size_check = on");
    return use(database);
  } finally {
    database.close();
  }
}

/** Runs one of our own statements. Each row becomes a JSON array of texts. */
function rowsOf(database: DatabaseSync, sql: string): string[] {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return (statement.all() as unknown as (null | number | bigint | string)[][]).map((row) =>
    JSON.stringify(row.map((value) => (value === null ? "" : String(value)))),
  );
}

/** Runs a check's query and returns at most two rows, as the evaluator expects. */
function queried(database: DatabaseSync, sql: string): { rows: string[]; readsData: boolean } {
  const inner = innerOf(sql);
  // Take the names from the query itself. In the statement around it, SQLite would rename one of
  // two columns with the same name.
  const names = database
    .prepare(inner)
    .columns()
    .map(({ name }) => name);
  const wrapped = `select * from (${inner}\n) limit 2`;
  const statement = database.prepare(wrapped);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const rows = statement.all() as unknown as (null | number | bigint | string | Uint8Array)[][];
  return {
    rows: rows.map((row) =>
      formatRow(row.map((value, index) => [names[index] ?? "", value] as const)).slice(0, MAX_ROW),
    ),
    readsData: readsData(database, wrapped) || readsVirtualTable(database, wrapped),
  };
}

/** Removes what ends the statement, so that it can be put into another one. */
function innerOf(sql: string): string {
  return sql.replace(/[;\s]+$/, "");
}

/**
 * Whether a statement's program opens a table or index of the database, other than the schema on
 * page 1.
 */
function readsData(database: DatabaseSync, sql: string): boolean {
  return database
    .prepare(`explain ${sql}`)
    .all()
    .some(
      ({ opcode, p2, p3 }) =>
        (opcode === "OpenRead" || opcode === "ReopenIdx") && Number(p2) > 1 && Number(p3) === 0,
    );
}

/** Whether a statement reads a virtual table of the database, such as one of FTS5. */
function readsVirtualTable(database: DatabaseSync, sql: string): boolean {
  const made = database.prepare(
    "select 1 from sqlite_schema where type = 'table' and rootpage = 0 and name = ? collate nocase",
  );
  return [...readBy(database, sql).keys()].some((table) => made.get(table) !== undefined);
}

/** More than the evaluator accepts, so that the evaluator says what is wrong. */
const MAX_ROW = 300_000;

function describe(error: unknown): { code: number; message: string } {
  const code =
    error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : -1;
  return { code, message: errorMessage(error) };
}
