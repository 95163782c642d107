import { availableParallelism, totalmem } from "node:os";

/** Memory that a worker is given, with what its requests need. */
const WORKER_BYTES = 512 * 1024 ** 2;

/**
 * As many workers as the processors and the memory that this process may use, where the settings
 * name no number.
 */
export function workersOf(
  setting: number | "auto",
  { cores, bytes } = { cores: availableParallelism(), bytes: usableMemory() },
): number {
  if (setting !== "auto") return setting;
  return Math.max(1, Math.min(cores, Math.floor(bytes / WORKER_BYTES)));
}

/** A container's limit, or the machine's memory. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
