import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { makeDirectory } from "@attestore/host/durable-files";
import type { HeldLock } from "@attestore/host/process-lock";
import { errorMessage } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import type { Logger } from "../logging/logger.ts";
import { findBinaries } from "./binaries.ts";
import {
  clusterDirectory,
  DATABASE_NAME,
  DATABASE_ROLE,
  ensureCluster,
  writeAccessRules,
} from "./cluster.ts";
import type { ConnectionSettings } from "../database/connection-settings.ts";
import { requireDurableEmbedded } from "./durability.ts";
import { clearOrphan } from "./orphan.ts";
import { diskFullReason } from "./disk-full.ts";
import { place } from "./cluster-location.ts";
import type { ClusterLocation } from "./cluster-location.ts";
import { choosePostgresUser } from "./postgres-user.ts";
import { PORT, ServerStartFailed, startServer } from "./server.ts";
import type { Server } from "./server.ts";
import { stopAfterSigterm } from "./sigterm-from-others.ts";

export interface EmbeddedPostgresOptions {
  dataDirectory: string;
  /** Proof that nobody else runs a server on this directory. */
  lock: HeldLock;
  log: Logger;
  /** Directory of another PostgreSQL's `bin/`; otherwise that of the npm package. */
  binaries?: string | undefined;
  /** The user to run as if we are root. */
  user?: string | undefined;
  /** `max_connections`; PostgreSQL's default if it is left out. */
  maxConnections?: number | undefined;
  onReadinessChange?: ((ready: boolean) => void) | undefined;
}

export interface EmbeddedPostgres {
  connection: ConnectionSettings;
  isReady(): boolean;
  /** The postmaster's process id, null while it is down. */
  pid(): number | null;
  stop(): Promise<void>;
}

const RETRY_START_FOR_MS = 30_000;
const BACKOFF_MS = { first: 100, most: 10_000 };
/**
 * Remains of an earlier server that go away by themselves: its last processes end, or PID 1 reaps
 * it.
 */
const PASSING = /lock file .* already exists|shared memory block .* is still in use|could not lock file/;

/**
 * Starts the embedded server and keeps it running until `stop`. Resolves when it accepts
 * connections and has confirmed that its commits are durable.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const home = join(options.dataDirectory, "postgres");
  await makeDirectory(home, process.geteuid?.() === 0 ? 0o711 : 0o700);
  const cluster = clusterDirectory(home);
  const user = await choosePostgresUser(cluster, options.user);
  const binaries = await findBinaries(options.binaries);
  await clearOrphan(cluster, log);
  const location = await place(home, binaries, user);
  const connection = {
    host: location.socketDirectory,
    port: PORT,
    user: DATABASE_ROLE,
    database: DATABASE_NAME,
  };
  const stopping = new AbortController();

  const start = async (): Promise<Server> => {
    const server = await startPatiently(cluster, location, options, stopping.signal);
    try {
      await requireDurableEmbedded(connection);
    } catch (error) {
      await server.stop();
      throw error;
    }
    log.info({ pid: server.pid, user: user?.name, socket: location.socketDirectory }, "PostgreSQL is ready");
    return server;
  };

  let current: Server | null = null;
  const become = (server: Server | null): void => {
    current = server;
    options.onReadinessChange?.(server !== null);
  };

  const keepRunning = async (first: Server): Promise<void> => {
    for (let server = first; ;) {
      become(server);
      const endWatch = stopAfterSigterm(cluster, server, stopping.signal, log);
      const end = await server.ended;
      endWatch();
      become(null);
      if (stopping.signal.aborted) return;
      log.error(
        { exit_code: end.exitCode, signal: end.signal },
        "PostgreSQL stopped unexpectedly; starting it again",
      );
      const next = await startAgain(start, home, stopping.signal, log);
      if (next === null) return;
      server = next;
    }
  };

  let running: Promise<void>;
  try {
    await ensureCluster(home, location, log);
    await writeAccessRules(home);
    running = keepRunning(await start());
  } catch (error) {
    await location.dispose();
    if (error instanceof ServerStartFailed) {
      throw new UserError(
        "database_unusable",
        `PostgreSQL does not start in ${cluster}: ${error.complaint}.${await diskFullReason(home)}`,
        { cause: error },
      );
    }
    throw error;
  }

  const stop = async (): Promise<void> => {
    stopping.abort();
    await current?.stop();
    await running;
    await location.dispose();
  };
  let stopped: Promise<void> | null = null;
  return {
    connection,
    isReady: () => current !== null,
    pid: () => current?.pid ?? null,
    stop: () => (stopped ??= stop()),
  };
}

async function startPatiently(
  cluster: string,
  location: ClusterLocation,
  { log, maxConnections }: EmbeddedPostgresOptions,
  signal: AbortSignal,
): Promise<Server> {
  for (const until = performance.now() + RETRY_START_FOR_MS; ;) {
    try {
      return await startServer(cluster, clusterDirectory(location.home), location, { log, maxConnections });
    } catch (error) {
      const passes = error instanceof ServerStartFailed && PASSING.test(error.complaint);
      if (!passes || signal.aborted || performance.now() > until) throw error;
      await delay(200);
      await clearOrphan(cluster, log);
    }
  }
}

/**
 * With growing pauses for as long as it takes; requests get 503 meanwhile. Null if it was told to
 * stop.
 */
async function startAgain(
  start: () => Promise<Server>,
  home: string,
  signal: AbortSignal,
  log: Logger,
): Promise<Server | null> {
  for (let pause = BACKOFF_MS.first; ; pause = Math.min(pause * 2, BACKOFF_MS.most)) {
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return null;
    try {
      const server = await start();
      if (!signal.aborted) return server;
      await server.stop();
      return null;
    } catch (error) {
      log.error(
        {
          reason: `${errorMessage(error)}.${await diskFullReason(home)}`,
          retry_in_ms: Math.min(pause * 2, BACKOFF_MS.most),
        },
        "PostgreSQL could not be started again",
      );
    }
  }
}
