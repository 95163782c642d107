import type { SignedHeadStore } from "../log/checkpoints/checkpoint-signer.ts";
import { stopSetBackLogs } from "../log/heads/stop-set-back-logs.ts";
import type { Config } from "../platform/config/read-config.ts";
import { JOB_TIMEOUTS, REQUEST_TIMEOUTS } from "../platform/database/pool-timeouts.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import { connectDatabase, type DatabaseAccess } from "../platform/database/database.ts";
import { NewServers } from "../platform/database/new-servers.ts";
import { migrate } from "../platform/database/migrate.ts";
import { letServiceIn } from "../platform/database/roles.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import type { Cleanup } from "./cleanup.ts";
import { CONNECTIONS_WITHOUT_JOBS, JOB_CONNECTIONS } from "./database-connections.ts";

export interface OpenDatabases {
  /** As the role that the service works as. */
  connection: ConnectionSettings;
  requests: DatabaseAccess;
  /** For scheduled jobs. Row security lets them see every organisation. */
  jobs: DatabaseAccess;
  /** Each is compared with the signed heads before anything is written to it. */
  servers: NewServers;
}

/**
 * The migrated database, by the one process that owns the data directory.
 * @param maxConnections for the embedded one; its own default if it is left out
 * @returns how to connect as the role that the service works as
 */
export async function openOwnDatabase(
  config: Config,
  log: Logger,
  cleanup: Cleanup,
  maxConnections?: number,
): Promise<ConnectionSettings> {
  const opened = await openConfiguredDatabase(config, { role: "serve", maxConnections, log });
  cleanup.addLimited(() => opened.close());
  await migrate(opened.connection, log, undefined, opened);
  if (config.databaseUrl === undefined) await letServiceIn(opened.connection);
  return opened.service;
}

/**
 * A pool for requests and one for jobs. On a server that took over, logs that lack one of the
 * signed heads are read-only before the first statement of either runs there.
 */
export function openPools(
  connection: ConnectionSettings,
  {
    config,
    log,
    runsJobs,
    signed,
  }: { config: Config; log: Logger; runsJobs: boolean; signed: Pick<SignedHeadStore, "newest"> },
  cleanup: Cleanup,
): OpenDatabases {
  const servers = new NewServers(connection, async (client) => {
    await stopSetBackLogs(client, signed.newest());
  });
  const requests = connectDatabase({
    connection,
    log,
    connections: config.databaseConnections,
    way: "requests",
    timeouts: REQUEST_TIMEOUTS,
    servers,
  });
  cleanup.add("the connections of requests", () => requests.close());
  const jobs = connectDatabase({
    connection,
    log,
    connections: runsJobs ? JOB_CONNECTIONS : CONNECTIONS_WITHOUT_JOBS,
    way: "jobs",
    timeouts: JOB_TIMEOUTS,
    servers,
  });
  cleanup.add("the connections of jobs", () => jobs.close());
  return { connection, requests, jobs, servers };
}
