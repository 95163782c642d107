import type pg from "pg";
import { LimitedPool, LOG_LIMITS } from "../platform/database/connection-limits.ts";
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
  const pool = new LimitedPool(
    {
      ...connection,
      max,
      pipeline: true,
      types: typeParsers,
      application_name: "attestore-server log",
    },
    LOG_LIMITS,
    ["set lock_timeout = 5000", ...(way === undefined ? [] : [`set role ${roleOf(way)}`])],
  );
  pool.on("error", (error) => logger.warn({ reason: error.message }, "an idle connection of the log broke"));
  pool.on("connect", (client) => {
    // A connection that breaks in use fails its query, and also emits this event.
    client.on("error", () => undefined);
  });
  return pool;
}
