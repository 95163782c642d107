import type { Config } from "../platform/config/read-config.ts";
import { JOB_LIMITS, REQUEST_LIMITS } from "../platform/database/connection-limits.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import { connectDatabase, type DatabaseAccess } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { letServiceIn } from "../platform/database/roles.ts";
import { warnOfPrivileges } from "../platform/database/service-privileges.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import type { Cleanup } from "./cleanup.ts";

/** Jobs, mails, webhooks and metrics: few at once, and no person waits for them. */
const JOB_CONNECTIONS = 4;

export interface OpenDatabases {
  /** As the role that the service works as. */
  connection: ConnectionSettings;
  requests: DatabaseAccess;
  /** What runs by the clock. Row security lets it see every organisation. */
  jobs: DatabaseAccess;
}

/** The migrated database, with a pool for requests and one for jobs. */
export async function openDatabases(config: Config, log: Logger, cleanup: Cleanup): Promise<OpenDatabases> {
  const opened = await openDatabase({
    dataDirectory: config.data,
    databaseUrl: config.databaseUrl,
    migrationsUrl: config.migrationsUrl,
    binaries: config.postgres,
    user: config.postgresUser,
    role: "serve",
    log,
  });
  cleanup.add(() => opened.close());
  await migrate(opened.connection, log, undefined, opened);
  if (config.databaseUrl === undefined) await letServiceIn(opened.connection);
  const connection = opened.service;
  const requests = connectDatabase({
    connection,
    log,
    connections: config.databaseConnections,
    way: "requests",
    limits: REQUEST_LIMITS,
  });
  cleanup.add(() => requests.close());
  await warnOfPrivileges(requests.pool, log);
  const jobs = connectDatabase({
    connection,
    log,
    connections: JOB_CONNECTIONS,
    way: "jobs",
    limits: JOB_LIMITS,
  });
  cleanup.add(() => jobs.close());
  return { connection, requests, jobs };
}
