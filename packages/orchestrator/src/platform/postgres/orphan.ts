import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { syncDirectory } from "@attestore/host/durable-files";
import type { Logger } from "../logging/logger.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";
import { processState, processesWorkingIn } from "./process-state.ts";

const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/**
 * Clears away a server that a killed service left running, and its files in the cluster. Only for
 * the holder of the data directory's lock: then no other service can own the server that is found,
 * so it is an orphan, and is stopped. postmaster.pid is removed only if /proc shows that no process
 * works in the cluster, which is more than PostgreSQL itself checks. Otherwise a zombie postmaster
 * (under a PID 1 that does not reap), or another process that got its pid, would block every start.
 */
export async function clearOrphan(clusterDirectory: string, log: Logger): Promise<void> {
  const left = await readPostmasterPid(clusterDirectory);
  if (left === null) return;
  if ((await processesWorkingIn(clusterDirectory)).includes(left.pid)) {
    log.warn({ pid: left.pid }, "stopping the PostgreSQL server left behind by an earlier run");
    await stopOrphan(clusterDirectory, left.pid);
  }
  if ((await processesWorkingIn(clusterDirectory)).length > 0) return; // Its last processes are ending; the start retries.
  await rm(join(clusterDirectory, "postmaster.pid"), { force: true });
  await syncDirectory(clusterDirectory);
  if (left.socketDirectory === null) return;
  // The socket's lock file names the same pid, and blocks in the same way.
  await rm(join(left.socketDirectory, `.s.PGSQL.${left.port}`), { force: true });
  await rm(join(left.socketDirectory, `.s.PGSQL.${left.port}.lock`), { force: true });
}

async function stopOrphan(clusterDirectory: string, pid: number): Promise<void> {
  const ended = async (withinMs: number): Promise<boolean> => {
    for (const until = performance.now() + withinMs; performance.now() < until; await delay(50)) {
      // Found by the directory, not by the pid alone: a signal must never reach a process that got
      // the pid later.
      if ((await processState(pid)) !== "running") return true;
      if (!(await processesWorkingIn(clusterDirectory)).includes(pid)) return true;
    }
    return false;
  };
  for (const [signal, withinMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS],
    ["SIGKILL", IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return; // Ended between the look and the signal.
    }
    if (await ended(withinMs)) return;
  }
}
