import { Command } from "commander";
import { readConfig } from "../platform/config/read-config.ts";
import { createStreamLogger } from "../platform/logging/stream-logger.ts";

/**
 * `npm start` passes a Ctrl-C on to us that the terminal has already sent us. An impatient person
 * takes longer than this.
 */
const SAME_SIGNAL_MS = 1000;

/** `attestore-server serve` */
export function serveCommand(): Command {
  return new Command("serve")
    .description("Run the service until stopped (SIGTERM, Ctrl-C)")
    .action(() => serve(process.env));
}

async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(environment);
  const log = createStreamLogger(process.stdout, config.logLevel, process.stdout.isTTY ? "text" : "json");
  const stopped = stopSignal();
  // Most of the program, which the other commands don't have to load.
  const { startService } = await import("../service/start-service.ts");
  // If it is told to stop while starting, it finishes starting first: half a start is harder to
  // undo than a whole one.
  const service = await startService(config, log);
  const signal = await stopped;
  log.info({ signal }, "stopping: no new requests; requests in flight may finish");
  await service.stop();
  log.info({}, "stopped");
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
        if (firstAt !== null && Date.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
        firstAt ??= Date.now();
        resolve(name);
      });
    }
  });
}
