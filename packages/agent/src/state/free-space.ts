import { statfs } from "node:fs/promises";
import type { Layout } from "./layout.ts";

/** With less, not even a receipt is sure to find room. */
const FULL_BYTES = 1_000_000;

export interface FreeSpace {
  readonly free: number;
  readonly all: number;
  readonly isFull: boolean;
}

/** Bytes that this user may still write to the file system of the root. */
export async function freeSpace({ root }: Layout): Promise<FreeSpace> {
  const { bavail, bsize, blocks } = await statfs(root);
  const free = bavail * bsize;
  return { free, all: blocks * bsize, isFull: free < FULL_BYTES };
}
