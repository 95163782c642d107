import cluster from "node:cluster";
import { Command, Option } from "commander";
import { type Config, readConfig } from "../platform/config/read-config.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { createStreamLogger, type LogFormat } from "../platform/logging/stream-logger.ts";
import type { Service } from "../service/start-service.ts";
import { WORKER_OPTION } from "../service/workers/protocol.ts";
import { workersOf } from "../service/workers/worker-count.ts";
import { withExitCodes } from "./console-command.ts";
import { endProcessSoon } from "./end-process.ts";

/**
 * `npm start` passes a Ctrl-C on to us that the terminal has already sent us. An impatient person
 * takes longer than this.
 */
const SAME_SIGNAL_MS = 1000;

/** `attestore-server serve` */
export function serveCommand(): Command {
  return withExitCodes(new Command("serve"))
    .description("Run the service until stopped (SIGTERM, Ctrl-C)")
    .addOption(new Option(WORKER_OPTION).hideHelp())
    .action(({ worker }: { worker?: true }) =>
      worker === true && cluster.isWorker ? serveAsWorker() : serve(process.env),
    );
}

async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(environment);
  const format = process.stdout.isTTY ? "text" : "json";
  const log = createStreamLogger(process.stdout, config.logLevel, format);
  const stopped = stopSignal();
  // If it is told to stop while starting, it finishes starting first: a half-finished start is
  // harder to undo than a finished one.
  const service = await start(config, log, format);
  const signal = await Promise.race([stopped, service.failed]);
  if (typeof signal === "number") process.exitCode = signal;
  log.info({ signal }, "stopping: no new requests; requests in flight may finish");
  await service.stop();
  log.info({}, "stopped");
  endProcessSoon(log);
}

/** With most of the program, which the other commands don't have to load. */
async function start(
  config: Config,
  log: Logger,
  logFormat: LogFormat,
): Promise<Service & { failed: Promise<number> }> {
  // Only the first process of all can have others take its port.
  const workers = cluster.isPrimary ? workersOf(config) : 1;
  if (workers === 1) {
    const { startService } = await import("../service/start-service.ts");
    return { ...(await startService(config, log)), failed: new Promise(() => undefined) };
  }
  const { startWorkers } = await import("../service/workers/start-workers.ts");
  return startWorkers(config, workers, { log, logFormat });
}

async function serveAsWorker(): Promise<void> {
  const { runWorker } = await import("../service/workers/run-worker.ts");
  await runWorker();
}

/**
 * Resolves with the first signal to stop. A second one ends the process immediately, which loses
 * nothing that was acknowledged.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    for (const name of ["SIGTERM", "SIGINT"] as const) {
      process.on(name, () => {
        if (firstAt !== null && performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
        firstAt ??= performance.now();
        resolve(name);
      });
    }
  });
}
