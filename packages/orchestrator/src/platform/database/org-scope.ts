import { isId } from "@attestore/contract";
import { type RawBuilder, sql } from "kysely";
import { FetchFirst, keepingFetched } from "./fetch-first.ts";
import { roleOf } from "./roles.ts";
import type { Database, DatabaseTransaction } from "./schema.ts";

/**
 * From here on the transaction belongs to one organisation: it runs as a role that sees only that
 * organisation's rows (migration 0020), so a query that forgets its organisation finds nothing of
 * others. A distributed engine is told of it too (migration 0074). Ends with the transaction, with
 * a rollback to an earlier savepoint, or with `endScope`.
 */
export async function scopeToOrg(tx: DatabaseTransaction, orgId: string): Promise<void> {
  await sql`select ${settings(orgId)}`.execute(tx);
}

/** The same with a savepoint after it, in one round trip. */
export async function scopeWithSavepoint(tx: DatabaseTransaction, orgId: string): Promise<void> {
  // Two statements at once can't have parameters. Nothing in an id needs quoting.
  if (!isId("org", orgId)) throw new Error("only an organisation's id makes a scope");
  await sql`select ${settings(sql.lit(orgId))}; savepoint handler`.execute(tx);
}

/**
 * An answered request still needs these: remembered answers, the API log row. By set_config() and
 * not by `set local`, which Citus would send to connections that may not become the role.
 */
export const BACK_TO_REQUESTS = sql.raw(`select set_config('role', '${roleOf("requests")}', true)`);

/** From here on the request's transaction covers the whole service again. */
export async function endScope(tx: DatabaseTransaction): Promise<void> {
  await sql`${BACK_TO_REQUESTS}`.execute(tx);
}

/**
 * One transaction for one organisation: for scheduled work, once it knows whose turn it is. It is
 * rolled back and run again where it throws FetchFirst, so it changes nothing outside before that.
 */
export async function runInOrg<T>(
  db: Database,
  orgId: string,
  run: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  return fetching(() =>
    db.transaction().execute(async (tx) => {
      await scopeToOrg(tx, orgId);
      return run(tx);
    }),
  );
}

function settings(orgId: string | RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`attestore_scope(${orgId})`;
}

/**
 * Runs a reading handler on one snapshot, limited to one organisation; again where it throws
 * FetchFirst.
 */
export async function readInOrg<T>(
  db: Database,
  orgId: string,
  read: (tx: DatabaseTransaction) => Promise<T>,
  /** Whoever waits for a turn has it for a transaction, and not while something is fetched. */
  inTurn: (transaction: () => Promise<T>) => Promise<T> = (transaction) => transaction(),
): Promise<T> {
  return fetching(() =>
    inTurn(() =>
      db
        .transaction()
        .setIsolationLevel("repeatable read")
        .setAccessMode("read only")
        .execute(async (tx) => {
          await scopeToOrg(tx, orgId);
          return read(tx);
        }),
    ),
  );
}

/** What one transaction asks for may come a piece at a time. */
const MAX_FETCHES = 1000;

async function fetching<T>(transaction: () => Promise<T>): Promise<T> {
  return keepingFetched(async () => {
    for (let fetches = 0; ; fetches += 1) {
      try {
        return await transaction();
      } catch (error) {
        if (!(error instanceof FetchFirst) || fetches === MAX_FETCHES) throw error;
        await error.fetch();
      }
    }
  });
}
