import { CompiledQuery, type PostgresPool, type PostgresPoolClient } from "kysely";
import type { Pool, PoolClient } from "pg";
import type { Database } from "./schema.ts";

/**
 * A statement that each connection parses once. The name stands for the text: one name, one text.
 */
export interface PreparedQuery {
  name: string;
  text: string;
}

/** The names of statements by their texts. They are constants of the program, so there are few. */
const names = new Map<string, string>();

/**
 * Runs what runs so often that it is not to be parsed and planned each time, which costs several
 * times as much as running it. Not for what finds very different numbers of rows for different
 * values: in the end one plan serves all.
 */
export async function runPrepared<Row>(
  db: Database,
  { name, text }: PreparedQuery,
  values: readonly unknown[],
): Promise<Row[]> {
  names.set(text, name);
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}

/** The pool as Kysely uses it, which knows nothing of names. */
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
  const query = (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    const name = names.get(text);
    const values = [...parameters];
    return name === undefined ? client.query(text, values) : client.query({ name, text, values });
  };
  return {
    // Its other form, with a cursor, is for streams, which this dialect is not set up for.
    query: query as PostgresPoolClient["query"],
    release: (destroy) => client.release(destroy),
  };
}
