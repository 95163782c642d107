import type { ClientBase, Pool, QueryResult, QueryResultRow } from "pg";
import { runPrepared, type PreparedQuery } from "./prepared.ts";
import type { DatabaseTransaction } from "./schema.ts";

export type { PreparedQuery };

/**
 * Where the log's statements run. Calls made without waiting in between run in the order of the
 * calls; on a connection with `pipeline` they also travel together.
 */
export interface SqlSession {
  run<Row extends QueryResultRow>(statement: PreparedQuery, values: readonly unknown[]): Promise<Row[]>;
}

/**
 * A connection of a pool with `pipeline` (sequencer-pool.ts). The caller begins and ends the
 * transaction.
 */
export function pipelineSession(client: ClientBase): SqlSession {
  return {
    async run<Row extends QueryResultRow>({ name, text }: PreparedQuery, values: readonly unknown[]) {
      const result: QueryResult<Row> = await client.query({ name, text, values: [...values] });
      return result.rows;
    },
  };
}

/** Any other connection of our own: each statement waits for the one before. */
export function clientSession(client: ClientBase): SqlSession {
  return inTurn(pipelineSession(client));
}

/** Somebody else's transaction. */
export function transactionSession(tx: DatabaseTransaction): SqlSession {
  return inTurn({
    run<Row extends QueryResultRow>(statement: PreparedQuery, values: readonly unknown[]) {
      return runPrepared<Row>(tx, statement, values);
    },
  });
}

function inTurn(session: SqlSession): SqlSession {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Row extends QueryResultRow>(statement: PreparedQuery, values: readonly unknown[]): Promise<Row[]> {
      const turn = last.then(() => session.run<Row>(statement, values));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** A connection of the pool for a few statements outside a transaction. */
export async function withSession<T>(pool: Pool, use: (session: SqlSession) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(clientSession(client));
  } finally {
    client.release();
  }
}
