import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import type { Logger } from "../logging/logger.ts";
import { type PoolTimeouts, DatabasePool } from "./pool-timeouts.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import type { NewServers } from "./new-servers.ts";
import { preparing } from "./prepared.ts";
import { roleOf, type Way } from "./roles.ts";
import type { Database, Schema } from "./schema.ts";
import { typeParsers } from "./type-parsers.ts";

export interface DatabaseAccess {
  /** For the hot path's plain SQL. */
  pool: pg.Pool;
  /** The same connections, typed. */
  database: Database;
  /** Waits for running queries, but not for a server that no longer answers. */
  close(): Promise<void>;
}

export interface DatabaseAccessOptions {
  connection: ConnectionSettings;
  log: Logger;
  /** The most connections at once. */
  connections?: number;
  /**
   * The role that each connection works as outside an organisation's transactions; by default the
   * one it connected as.
   */
  way?: Way;
  /** None by default, for commands that look through everything. */
  timeouts?: PoolTimeouts;
  /** Whose check each new connection waits for. */
  servers?: NewServers;
}

/**
 * Row-level security makes the planner expect far more rows than there are. If PostgreSQL can
 * compile plans (JIT), that would take longer than any of our queries. Reading pages out of order
 * costs little more than in order on today's disks, or in memory. By default it counts as four
 * times as expensive: then reading a whole table by age looks cheaper than the index that has
 * exactly the rows.
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
  timeouts,
  servers,
}: DatabaseAccessOptions): DatabaseAccess {
  const pool = new DatabasePool(
    {
      ...connection,
      max: connections,
      types: typeParsers,
      application_name: "attestore-server",
      idleTimeoutMillis: 60_000,
    },
    timeouts,
    way === undefined ? [SETTINGS] : [SETTINGS, `set role ${roleOf(way)}`],
    servers,
  );
  // The pool drops an idle connection that breaks. Without a listener the error would end the
  // process.
  pool.on("error", (error) => {
    if (!pool.ending) log.warn({ reason: error.message }, "an idle database connection broke");
  });
  pool.on("connect", (client) => {
    // A connection that breaks while in use fails its query, and also reports it here.
    client.on("error", () => undefined);
  });
  const database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: preparing(pool) }) });
  return {
    pool,
    database,
    // Kysely ends a pool only if it has used it.
    close: () => database.destroy().then(() => pool.end()),
  };
}
