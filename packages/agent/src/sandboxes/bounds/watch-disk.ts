import { spawn } from "node:child_process";
import { statfs } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/**
 * `disk`: the directory is larger than it may be. `host`: its file system is nearly full, for
 * whatever reason.
 */
export type DiskLimit = "disk" | "host";

const LOOK_MS = 200;
const MEASURE_MS = 2_000;
const RESERVE_BYTES = 1 << 30;
const RESERVE_SHARE = 0.02;

/**
 * Waits until a directory is larger than it may be, or its file system is nearly full: removed
 * files that are still open are in no directory, but use space all the same. Null once it is told
 * to stop.
 */
export async function watchDisk(
  directory: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<DiskLimit | null> {
  let measured = 0;
  while (!signal.aborted) {
    if (await isNearlyFull(directory)) return "host";
    if (performance.now() - measured >= MEASURE_MS) {
      const began = performance.now();
      if ((await usedBytes(directory, signal)) > maxBytes) return "disk";
      // A directory with a million files is not measured without pause.
      measured = performance.now() + 4 * (performance.now() - began);
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

/** Whether it holds more now: a program may reach a limit and end before the next look. */
export async function holdsMore(directory: string, maxBytes: number): Promise<boolean> {
  return (await usedBytes(directory, new AbortController().signal)) > maxBytes;
}

async function isNearlyFull(directory: string): Promise<boolean> {
  const { bfree, bsize, blocks } = await statfs(directory).catch(() => ({ bfree: 1, bsize: 1, blocks: 0 }));
  return bfree * bsize < Math.min(RESERVE_BYTES, RESERVE_SHARE * blocks * bsize);
}

/** With du(1), which handles directories of any depth; it leaves out what goes away meanwhile. */
async function usedBytes(directory: string, signal: AbortSignal): Promise<number> {
  const du = spawn("du", ["--summarize", "--one-file-system", "--block-size=1", "--", directory], {
    stdio: ["ignore", "pipe", "ignore"],
    signal,
  });
  du.on("error", () => undefined);
  const output = await text(du.stdout).catch(() => "");
  return Number(/^[0-9]+/.exec(output)?.[0] ?? 0);
}
