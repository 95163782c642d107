import type pg from "pg";
import { DatabasePool, LOG_TIMEOUTS } from "../../platform/database/pool-timeouts.ts";
import { roleOf, type Way } from "../../platform/database/roles.ts";
import { typeParsers } from "../../platform/database/type-parsers.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";

/** By default: one for the batch in flight, the others to repeat earlier answers. */
export const SEQUENCER_CONNECTIONS = 4;

/**
 * The sequencer's own connections. Statements are pipelined, so a batch costs three round trips.
 * Every step has a timeout, because all later submissions wait behind it.
 */
export function openSequencerPool(
  connection: ConnectionSettings,
  logger: Logger,
  { max = SEQUENCER_CONNECTIONS, way }: { max?: number; way?: Way } = {},
): pg.Pool {
  const pool = new DatabasePool(
    {
      ...connection,
      max,
      pipeline: true,
      types: typeParsers,
      application_name: "attestore-server log",
    },
    LOG_TIMEOUTS,
    ["set lock_timeout = 5000", ...(way === undefined ? [] : [`set role ${roleOf(way)}`])],
  );
  pool.on("error", (error) => logger.warn({ reason: error.message }, "an idle connection of the log broke"));
  pool.on("connect", (client) => {
    // A connection that breaks in use fails its query, and also emits this event.
    client.on("error", () => undefined);
  });
  return pool;
}
