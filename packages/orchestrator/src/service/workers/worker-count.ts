import { availableParallelism, totalmem } from "node:os";
import type { Config } from "../../platform/config/read-config.ts";

/** Memory that a worker is given, with what its requests need. */
const WORKER_BYTES = 512 * 1024 ** 2;

/**
 * As many workers as there are processors and memory for, where the settings name no number. The
 * embedded database is left one processor: on two, a second worker made receipts no faster, and
 * each cost more (docs/performance.md).
 */
export function workersOf(
  { workers, databaseUrl }: Pick<Config, "workers" | "databaseUrl">,
  { cores, bytes } = { cores: availableParallelism(), bytes: usableMemory() },
): number {
  if (workers !== "auto") return workers;
  const forWorkers = databaseUrl === undefined ? cores - 1 : cores;
  return Math.max(1, Math.min(forWorkers, Math.floor(bytes / WORKER_BYTES)));
}

/** A container's limit, or the machine's memory. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
