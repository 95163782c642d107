import pg from "pg";
import { onConnect } from "../platform/database/on-connect.ts";
import { roleOf, type Way } from "../platform/database/roles.ts";
import { typeParsers } from "../platform/database/type-parsers.ts";
import type { Logger } from "../platform/logging/logger.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";

/**
 * The sequencer's own connections: one for the batch in flight, the others to repeat earlier
 * answers. Statements are pipelined, so a batch costs three round trips. Every step has a timeout,
 * because all later submissions wait behind it.
 */
export function openSequencerPool(
  connection: ConnectionSettings,
  logger: Logger,
  { max = 4, way }: { max?: number; way?: Way } = {},
): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max,
    pipeline: true,
    types: typeParsers,
    application_name: "attestore-server log",
    connectionTimeoutMillis: 5_000,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    query_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(way === undefined
      ? {}
      : { onConnect: onConnect((client) => client.query(`set role ${roleOf(way)}`)) }),
  });
  pool.on("error", (error) => logger.warn({ reason: error.message }, "an idle connection of the log broke"));
  pool.on("connect", (client) => {
    // A connection that breaks in use fails its query, and also emits this event.
    client.on("error", () => undefined);
  });
  return pool;
}
