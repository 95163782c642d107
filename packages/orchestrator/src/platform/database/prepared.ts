import { CompiledQuery, type PostgresPool, type PostgresPoolClient } from "kysely";
import type { Pool, PoolClient } from "pg";
import type { Database } from "./schema.ts";
import { notReplicated } from "./standby.ts";

/** A statement that each connection parses once. A name always belongs to the same text. */
export interface PreparedQuery {
  name: string;
  text: string;
}

/**
 * The names of statements by their texts. The texts are constants of the program, so there are few.
 */
const names = new Map<string, string>();

/**
 * Runs a statement that is used so often that parsing and planning it each time would cost several
 * times as much as running it. Not for statements that find very different numbers of rows for
 * different values: eventually one plan serves all of them.
 */
export async function runPrepared<Row>(
  db: Database,
  { name, text }: PreparedQuery,
  values: readonly unknown[],
): Promise<Row[]> {
  names.set(text, name);
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}

/** The pool in the form that Kysely uses, which has no statement names. */
export function preparing(pool: Pool): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      const made = known.get(client);
      if (made !== undefined) return made;
      const begun = preparingClient(client);
      known.set(client, begun);
      return begun;
    },
  };
}

function preparingClient(client: PoolClient): PostgresPoolClient {
  const query = async (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    const name = names.get(text);
    const values = [...parameters];
    try {
      return await (name === undefined ? client.query(text, values) : client.query({ name, text, values }));
    } catch (error) {
      // Kysely rolls back after a commit that failed, and throws what that fails with.
      throw notReplicated(client) ?? error;
    }
  };
  return {
    // Its other form, with a cursor, is for streams, which this dialect is not set up for.
    query: query as PostgresPoolClient["query"],
    release: (destroy) => client.release(destroy),
  };
}
