import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../logging/logger.ts";
import { launchCommand } from "./launch.ts";
import type { ClusterLocation } from "./cluster-location.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";
import { forwardLog, LOG_SETTINGS } from "./server-log.ts";

export const PORT = 5432;
const STOP_STEPS = [
  { signal: "SIGINT", withinMs: 30_000 }, // fast: rolls back, writes a checkpoint
  { signal: "SIGQUIT", withinMs: 10_000 }, // immediate: the next start recovers from the write-ahead log
  { signal: "SIGKILL", withinMs: 10_000 },
] as const;
const SLOW_START_MS = 10_000;

/** The server ended before it was ready. `complaint` has its last words. */
export class ServerStartFailed extends Error {
  readonly complaint: string;

  constructor(complaint: string) {
    super(`PostgreSQL did not start: ${complaint}`);
    this.name = "ServerStartFailed";
    this.complaint = complaint;
  }
}

export interface Server {
  pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  ended: Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>;
  stop(): Promise<void>;
}

function settingArguments(socketDirectory: string, maxConnections?: number): string[] {
  const settings = {
    listen_addresses: "",
    port: String(PORT),
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: "0700",
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    timezone: "UTC",
    ...(maxConnections === undefined ? {} : { max_connections: String(maxConnections) }),
    ...LOG_SETTINGS,
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/**
 * Starts the server and waits until it accepts connections, however long its recovery takes.
 * @param cluster the cluster's path as we see it
 * @throws ServerStartFailed
 */
export async function startServer(
  cluster: string,
  seenCluster: string,
  location: ClusterLocation,
  { log, maxConnections }: { log: Logger; maxConnections?: number | undefined },
): Promise<Server> {
  const { file, args } = launchCommand(location, join(location.binaries, "bin", "postgres"), [
    "-D",
    seenCluster,
    ...settingArguments(location.socketDirectory, maxConnections),
  ]);
  // Its own session: Ctrl-C in a terminal reaches only us, and the database outlives the requests
  // that we still finish.
  const child = spawn(file, args, {
    cwd: "/",
    env: location.environment,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const complaints: string[] = [];
  forwardLog(child.stderr, log, (line) => {
    complaints.push(line);
    if (complaints.length > 5) complaints.shift();
  });
  const ended = watch(child, complaints);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });

  const started = performance.now();
  let nextNotice = started + SLOW_START_MS;
  for (;;) {
    await Promise.race([delay(20), ended]);
    if (hasEnded) throw new ServerStartFailed(complaints.join("; ") || "it said nothing");
    const status = await readPostmasterPid(cluster);
    if (status !== null && status.pid === child.pid && status.ready) break;
    if (performance.now() > nextNotice) {
      log.info(
        { waited_ms: performance.now() - started },
        "PostgreSQL is still starting (recovering after a crash takes a while)",
      );
      nextNotice += SLOW_START_MS;
    }
  }
  return { pid: child.pid ?? 0, ended, stop: () => stopServer(child, ended, log) };
}

function watch(child: ChildProcess, complaints: string[]): Server["ended"] {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      complaints.push(error.message);
      resolve({ exitCode: null, signal: null });
    });
    // "close" comes after the last line of stderr, so the complaints are complete; "exit" may come
    // before.
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

async function stopServer(child: ChildProcess, ended: Server["ended"], log: Logger): Promise<void> {
  const timeUp = Symbol("time up");
  for (const { signal, withinMs } of STOP_STEPS) {
    child.kill(signal);
    const timer = new AbortController();
    const result = await Promise.race([
      ended,
      delay(withinMs, timeUp, { signal: timer.signal }).catch(() => timeUp),
    ]);
    timer.abort();
    if (result !== timeUp) return;
    log.warn({ signal, within_ms: withinMs }, "PostgreSQL did not stop in time");
  }
}
