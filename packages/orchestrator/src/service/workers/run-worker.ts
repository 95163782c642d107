import { join } from "node:path";
import type { InstallationState } from "../../features/installation/installation.ts";
import { UserError } from "../../platform/errors/user-error.ts";
import { withFields } from "../../platform/logging/logger.ts";
import { createStreamLogger } from "../../platform/logging/stream-logger.ts";
import { Peer } from "../../platform/workers/peer.ts";
import { RemoteClaims } from "../../platform/workers/remote-claims.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { startWorker, type Worker } from "../start-worker.ts";
import type { WorkerStart } from "./protocol.ts";
import { SentHeads } from "./sent-heads.ts";

/** The primary stops its workers; a terminal and a supervisor signal them too. */
const PRIMARYS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * One worker of a service, until the primary stops it. If the primary is gone, node:cluster ends
 * the process.
 */
export async function runWorker(): Promise<void> {
  for (const signal of PRIMARYS) process.on(signal, () => undefined);
  const begin = Promise.withResolvers<WorkerStart>();
  const stop = Promise.withResolvers<void>();
  let isReplaced = false;
  let learnState: (state: InstallationState) => void = () => undefined;
  let worker: Worker | null = null;
  // The peer's procedures are those of its users, who in turn need the peer.
  const toPrimary = (): Peer => peer;
  const claims = new RemoteClaims(toPrimary);
  const heads = new SentHeads(toPrimary);
  const peer: Peer = new Peer((message) => void process.send?.(message, undefined, {}, () => undefined), {
    ...claims.procedures,
    ...heads.procedures,
    ping: () => null,
    start: (start: WorkerStart) => begin.resolve(start),
    stop: (how: { isReplaced: boolean }) => {
      ({ isReplaced } = how);
      stop.resolve();
      // It was replaced before, and its running requests have less time now.
      if (!isReplaced) void worker?.stop().catch(() => undefined);
    },
    state: (state: InstallationState) => learnState(state),
    measure: () => worker?.measure() ?? [],
  });
  process.on("message", (message) => peer.take(message));
  peer.tell("ready");

  const start = await begin.promise;
  if (start.version !== packageJson.version)
    throw new UserError(
      "invalid_setting",
      `The program was updated from ${start.version} to ${packageJson.version} while the service runs. Restart the service.`,
    );
  const { config, leads } = start;
  const log = withFields(createStreamLogger(process.stdout, config.logLevel, start.logFormat), {
    worker: start.worker,
  });
  await heads.load(join(config.data, "signed-heads"));
  worker = await startWorker(config, log, {
    connection: start.connection,
    signed: heads,
    turns: claims.turns,
    places: claims.places,
    leads,
    isFirst: start.isFirst,
    numbered: { worker: start.worker, of: start.of },
    followHeads: (learn) => heads.follow(learn),
    tellState: (state) => peer.tell("state", state),
    followState: (learn) => {
      if (leads) return;
      learnState = learn;
      if (start.state !== null) learn(start.state);
    },
    gatherMetrics: () => peer.call("metrics"),
  });
  peer.tell("listening");
  await stop.promise;
  await worker.stop(isReplaced);
}
