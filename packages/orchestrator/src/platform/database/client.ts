import type { ConnectionSettings } from "./connection-settings.ts";
import { endClient } from "./end-client.ts";
import { DatabaseClient } from "./servers.ts";
import { typeParsers } from "./type-parsers.ts";

const CONNECT_WITHIN_MS = 5_000;
/** A statement that the server does not end by itself in time gets no answer at all. */
const SILENCE_MS = 5_000;

export interface ClientOptions {
  /** Shown in pg_stat_activity after "attestore-server". */
  name: string;
  /** The most that a statement may take; 0 for as long as it takes. */
  statement_ms: number;
  connect_ms?: number;
}

/**
 * Does something on a connection of its own, outside any pool. Neither connecting nor ending waits
 * for a server that vanished.
 */
export async function withClient<T>(
  connection: ConnectionSettings,
  { name, statement_ms, connect_ms = CONNECT_WITHIN_MS }: ClientOptions,
  work: (client: DatabaseClient) => Promise<T>,
): Promise<T> {
  const client = new DatabaseClient({
    ...connection,
    types: typeParsers,
    application_name: `attestore-server ${name}`,
    connectionTimeoutMillis: connect_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(statement_ms === 0 ? {} : { query_timeout: statement_ms + SILENCE_MS }),
  });
  try {
    await client.connect();
    if (statement_ms !== 0) await client.query(`set statement_timeout = ${statement_ms}`);
    return await work(client);
  } finally {
    await endClient(client);
  }
}
