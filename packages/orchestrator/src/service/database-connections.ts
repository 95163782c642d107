import { plural } from "@attestore/proof";
import { SEQUENCER_CONNECTIONS } from "../log/sequencer/sequencer-pool.ts";
import type { Config } from "../platform/config/read-config.ts";
import { withClient } from "../platform/database/client.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import { UserError } from "../platform/errors/user-error.ts";
import type { Logger } from "../platform/logging/logger.ts";

/** Jobs, mails, webhooks and metrics: few at once, and no person waits for them. */
export const JOB_CONNECTIONS = 4;
/** For a worker that runs no jobs: for metrics, and for the checks before a deletion. */
export const CONNECTIONS_WITHOUT_JOBS = 2;
/** Looks up, for the signer of checkpoints, what the database has of the logs. */
export const LOOK_BACK_CONNECTIONS = 1;
/** Hears that there are new commands. */
const NOTICE_CONNECTIONS = 1;

/** What each worker has besides `ATTESTORE_DATABASE_CONNECTIONS`, which are for requests. */
const BESIDE_REQUESTS = SEQUENCER_CONNECTIONS + LOOK_BACK_CONNECTIONS + JOB_CONNECTIONS + NOTICE_CONNECTIONS;
/** For commands, backups of the service, and people. */
const FOR_OTHERS = 20;

/** While a worker is replaced, there is one more. */
export function mostConnections({ databaseConnections }: Config, workers: number): number {
  return (workers + 1) * (databaseConnections + BESIDE_REQUESTS);
}

/** `max_connections` of the embedded database; its own default if that is enough. */
export function embeddedConnections(config: Config, workers: number): number | undefined {
  const wanted = mostConnections(config, workers) + FOR_OTHERS;
  return config.databaseUrl === undefined && wanted > 97 ? wanted + 3 : undefined;
}

/** How many connections the role may make: by the server's, the database's and its own limit. */
export async function readMaxConnections(connection: ConnectionSettings): Promise<number> {
  return withClient(connection, { name: "start", statement_ms: 10_000 }, async (client) => {
    const { rows } = await client.query<{ most: number }>(
      `select least(
         current_setting('max_connections')::int - coalesce(current_setting('superuser_reserved_connections', true), '0')::int,
         case when not rolsuper and rolconnlimit >= 0 then rolconnlimit end,
         case when not rolsuper and datconnlimit >= 0 then datconnlimit end) as most
       from pg_roles, pg_database where rolname = session_user and datname = current_database()`,
    );
    return rows[0]?.most ?? 0;
  });
}

/**
 * As many workers as the database has connections for; of one that is not the service's own, half,
 * where the settings name no number.
 * @throws UserError `invalid_setting` if the settings name a number that it has not enough for
 */
export async function fittingWorkers(
  connection: ConnectionSettings,
  config: Config,
  { workers, log }: { workers: number; log: Logger },
): Promise<number> {
  const most = await readMaxConnections(connection);
  const wanted = mostConnections(config, workers);
  // A second replica may need as many.
  const ofThem = config.databaseUrl !== undefined && config.workers === "auto" ? most / 2 : most;
  const fitting = Math.max(1, Math.floor(ofThem / mostConnections(config, 0)) - 1);
  if (workers <= fitting) return workers;
  if (config.workers !== "auto")
    throw new UserError(
      "invalid_setting",
      `${plural(workers, "worker")} may open ${wanted} connections to the database while one of them is replaced, and it takes ${most} (max_connections, or CONNECTION LIMIT of the role or the database). Raise that, or set ATTESTORE_WORKERS or ATTESTORE_DATABASE_CONNECTIONS lower.`,
    );
  log.warn(
    { workers: fitting, room_for: workers, max_connections: most },
    "the database takes too few connections for as many workers as this machine has room for; ATTESTORE_WORKERS can name a number",
  );
  return fitting;
}
