import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { InstallationState } from "../../features/installation/installation.ts";
import { SignedHeads } from "../../log/checkpoints/signed-heads.ts";
import type { Config } from "../../platform/config/read-config.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { LogFormat } from "../../platform/logging/stream-logger.ts";
import { removeUploadsOf } from "../../platform/objects/disk-store.ts";
import type { Peer, Procedures } from "../../platform/workers/peer.ts";
import { ClaimsOfWorkers } from "../../platform/workers/remote-claims.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { Cleanup } from "../cleanup.ts";
import { openOwnDatabase } from "../open-databases.ts";
import { serveAlone } from "../start-service.ts";
import { embeddedConnections, fittingWorkers } from "../database-connections.ts";
import type { SentHead, WorkerStart } from "./protocol.ts";
import { HeadsOfWorkers } from "./sent-heads.ts";
import { WorkerNotStarted } from "./worker-not-started.ts";
import { WorkerPool } from "./worker-pool.ts";

/** A worker that does not send its metrics in time is left out. */
const MEASURE_WITHIN_MS = 2000;

export interface ServiceOfWorkers {
  /** Stops all workers, then releases everything, the database last. */
  stop(): Promise<void>;
  /** Resolves to an exit code when the service cannot continue. */
  failed: Promise<number>;
}

/**
 * Starts the service with several workers. This process, the primary, owns the data directory and
 * the database, keeps the signed heads, and takes no requests: it hands connections to the workers
 * in turn, and outlives any of them.
 * @throws WorkerNotStarted
 */
export async function startWorkers(
  config: Config,
  workers: number,
  { log, logFormat }: { log: Logger; logFormat: LogFormat },
): Promise<ServiceOfWorkers> {
  const cleanup = new Cleanup(log);
  const failed = Promise.withResolvers<number>();
  try {
    const connection = await openOwnDatabase(config, log, cleanup, embeddedConnections(config, workers));
    const count = await fittingWorkers(connection, config, { workers, log });
    const stop = (): Promise<void> => cleanup.run();
    if (count === 1) {
      await serveAlone(config, { connection, log }, cleanup);
      return { stop, failed: failed.promise };
    }
    const signed = await SignedHeads.open(join(config.data, "signed-heads"));
    cleanup.add("the signed heads", () => signed.close());
    const heads = new HeadsOfWorkers(signed);
    const claims = new ClaimsOfWorkers();
    let state: InstallationState | null = null;
    const gone = new Map<Peer, () => void>();
    const procedures = (peer: () => Peer): Procedures => {
      const claimsOfOne = claims.of(peer);
      return {
        ...claimsOfOne.procedures,
        record: (some: readonly SentHead[]) => heads.record(some, peer()),
        metrics: () => gatherMetrics(pool.peers),
        state: (told: InstallationState) => {
          state = told;
          for (const other of pool.peers) if (other !== peer()) other.tell("state", told);
        },
        ready: () => {
          gone.set(peer(), claimsOfOne.gone);
          heads.add(peer());
        },
      };
    };
    const pool = new WorkerPool({
      count,
      shutdown_s: config.shutdown_s,
      log,
      procedures,
      startOf: (worker, isFirst): WorkerStart => ({
        config,
        connection,
        worker,
        of: count,
        leads: worker === 1,
        isFirst,
        logFormat,
        state,
        version: packageJson.version,
      }),
      onEnded: ({ peer, worker }) => {
        heads.remove(peer);
        gone.get(peer)?.();
        gone.delete(peer);
        removeUploadsOf(worker.process.pid, join(config.data, "objects"));
      },
      onFailed: (code) => failed.resolve(code),
    });
    cleanup.addLimited(() => pool.stop());
    let hasStarted = false;
    const replace = (): void => {
      // A worker that starts now reads the new ones by itself.
      if (hasStarted) void pool.replaceAll();
    };
    process.on("SIGHUP", replace);
    cleanup.add("SIGHUP", async () => void process.off("SIGHUP", replace));
    const end = await pool.start();
    if (end !== null) throw new WorkerNotStarted(end);
    hasStarted = true;
    log.info({ workers: count }, "all workers have started");
    return { stop, failed: failed.promise };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function gatherMetrics(workers: readonly Peer[]): Promise<string[]> {
  const measured = workers.map((worker) =>
    Promise.race([
      worker.call<string[]>("measure").catch(() => []),
      delay(MEASURE_WITHIN_MS, [], { ref: false }),
    ]),
  );
  return (await Promise.all(measured)).flat();
}
