import { spawn } from "node:child_process";
import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";

/**
 * `disk`: the directory is larger than it may be. `host`: its file system is nearly full, for
 * whatever reason.
 */
export type DiskLimit = "disk" | "host";

const LOOK_MS = 200;
const MEASURE_MS = 2_000;
/** This many looks in all, while this process lacks what it needs to measure. */
const MAX_WAITS = 25;
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

/**
 * With du(1), which handles directories of any depth; it leaves out what goes away meanwhile. If
 * the host cannot start it, this process measures.
 */
async function usedBytes(directory: string, signal: AbortSignal): Promise<number> {
  const du = spawn("du", ["--summarize", "--one-file-system", "--block-size=1", "--", directory], {
    stdio: ["ignore", "pipe", "ignore"],
    signal,
  });
  du.on("error", () => undefined);
  const output = await text(du.stdout).catch(() => "");
  const [said] = /^[0-9]+/.exec(output) ?? [];
  return said === undefined ? measuredHere(directory, signal) : Number(said);
}

/**
 * As du does, it passes over what it may not read. So the directory holds at least as much as this
 * returns. It waits a while if the process lacks descriptors, and not for ever: the caller has to
 * look at the free space again, and a program's end waits for this.
 */
async function measuredHere(top: string, signal: AbortSignal): Promise<number> {
  const linked = new Set<number>();
  const left = [top];
  let device: number | null = null;
  let bytes = 0;
  let waits = 0;
  for (let path = left.pop(); path !== undefined && !signal.aborted; path = left.pop()) {
    try {
      const found = await lstat(path);
      device ??= found.dev;
      if (found.dev !== device || linked.has(found.ino)) continue;
      if (found.isDirectory()) for (const name of await readdir(path)) left.push(join(path, name));
      else if (found.nlink > 1) linked.add(found.ino);
      bytes += found.blocks * 512;
    } catch (error) {
      if (!LACKING.has(errorCode(error) ?? "") || waits >= MAX_WAITS) continue;
      waits += 1;
      left.push(path);
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return bytes;
}

/** The host or this process lacks something for a while, which says nothing about the directory. */
const LACKING: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);
