import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Logger } from "../logging/logger.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { onConnect } from "./on-connect.ts";
import { preparing } from "./prepared.ts";
import { roleOf, type Way } from "./roles.ts";
import type { Database, Schema } from "./schema.ts";
import { typeParsers } from "./type-parsers.ts";

export interface DatabaseAccess {
  /** For the hot path's plain SQL. */
  pool: pg.Pool;
  /** The same connections, typed. */
  database: Database;
  /** Waits for the queries that run. */
  close(): Promise<void>;
}

export interface DatabaseAccessOptions {
  connection: ConnectionSettings;
  log: Logger;
  /** Most connections at once. */
  connections?: number;
  /**
   * The role that each connection works as outside an organisation's transactions; without one,
   * whoever it connected as.
   */
  way?: Way;
}

/**
 * Row-level security has the planner expect far more rows than there are. Where PostgreSQL can
 * compile plans, that would then take longer than any query of ours. Pages that are not read in
 * order cost little more than others on the disks of today, or in memory: taken for four times as
 * dear, as is the default, whole tables by age look cheaper than the index that has just the rows.
 */
const SETTINGS = "set jit = off; set random_page_cost = 1.1";

/**
 * One pool for the process. Connects on use, so a database that is down shows in the first query
 * (see unavailable.ts).
 */
export function connectDatabase({
  connection,
  log,
  connections = 10,
  way,
}: DatabaseAccessOptions): DatabaseAccess {
  const pool = new pg.Pool({
    ...connection,
    max: connections,
    types: typeParsers,
    application_name: "attestore-server",
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: onConnect((client) =>
      client.query(way === undefined ? SETTINGS : `${SETTINGS}; set role ${roleOf(way)}`),
    ),
  });
  // An idle connection that breaks is dropped by the pool. Without a listener it would end the
  // process.
  pool.on("error", (error) => {
    if (!pool.ending) log.warn({ reason: error.message }, "an idle database connection broke");
  });
  pool.on("connect", (client) => {
    // A connection that breaks while it is in use fails its query, and says it here once more.
    client.on("error", () => undefined);
  });
  const database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: preparing(pool) }) });
  return {
    pool,
    database,
    close: () => database.destroy().then(() => (pool.ended ? undefined : pool.end())),
  };
}
