import { access, constants, statfs } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import type { Layout } from "./layout.ts";

/** What to do about a read-only file system. Linux makes it so when a disk reports errors. */
export const REMOUNT = "see dmesg for why, and repair the disk; then: mount -o remount,rw";

/** With less, not even a receipt is sure to find room. */
const FULL_BYTES = 1_000_000;

export interface FreeSpace {
  readonly free: number;
  readonly all: number;
  readonly isFull: boolean;
  /** As Linux makes it when the disk reports errors. */
  readonly isReadOnly: boolean;
}

/** Bytes that this user may still write to the file system of the root. */
export async function freeSpace({ root }: Layout): Promise<FreeSpace> {
  const { bavail, bsize, blocks } = await statfs(root);
  const free = bavail * bsize;
  const isReadOnly = await access(root, constants.W_OK).then(
    () => false,
    (error: unknown) => errorCode(error) === "EROFS",
  );
  return { free, all: blocks * bsize, isFull: free < FULL_BYTES, isReadOnly };
}
