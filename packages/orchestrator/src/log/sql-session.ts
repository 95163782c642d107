import { CompiledQuery } from "kysely";
import type { ClientBase, Pool, QueryResult, QueryResultRow } from "pg";
import type { DatabaseTransaction } from "../platform/database/schema.ts";

/** A statement that each connection parses once. The name stands for the text: one name, one text. */
export interface Statement {
  name: string;
  text: string;
}

/**
 * Where the log's statements run. Calls made without waiting in between run in the order of the calls; on a connection
 * with `pipeline` they also travel together.
 */
export interface SqlSession {
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** A connection of a pool with `pipeline` (sequencer-pool.ts). The caller opens and ends the transaction. */
export function pipelineSession(client: ClientBase): SqlSession {
  return {
    async run<Row extends QueryResultRow>({ name, text }: Statement, values: readonly unknown[]) {
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
    async run<Row extends QueryResultRow>({ text }: Statement, values: readonly unknown[]) {
      const result = await tx.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
      return result.rows;
    },
  });
}

function inTurn(session: SqlSession): SqlSession {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
      const turn = last.then(() => session.run<Row>(statement, values));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** A connection of the pool for some statements outside a transaction. */
export async function withSession<T>(pool: Pool, use: (session: SqlSession) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(clientSession(client));
  } finally {
    client.release();
  }
}
