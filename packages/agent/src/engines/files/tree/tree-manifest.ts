import { createHash } from "node:crypto";
import { chmod, open, type FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { errorCode } from "@attestore/host/errno";
import { mapInOrder } from "../../../crypto/map-in-order.ts";
import { FilesProfiler, type LookedAt, lookAtFile } from "../../../checks/index.ts";
import type { FilesProfile } from "@attestore/proof";
import { Manifest, type ManifestSummary } from "../manifest.ts";
import { type LookedFor, RestoredSums } from "./restored-sums.ts";
import { Times, type TimesDigest } from "../attributes/times.ts";
import type { TreeEntry } from "../tree-entry.ts";
import type { TreeSummed } from "./tree-sums.ts";
import type { Moment } from "../tar/attributes.ts";
import { walkTree } from "./walk-tree.ts";

const FILES_AT_ONCE = 8;
const READ_BYTES = 256 * 1024;

export interface TreeSummary extends ManifestSummary {
  readonly times: TimesDigest;
  /** Null if there are too few files. */
  readonly profile: FilesProfile | null;
  /** If somebody looks for what another program archived. */
  readonly summed?: TreeSummed;
}

export interface ManifestLimits {
  /** The most that all files together may hold. */
  readonly logicalBytes: number;
  readonly lookedFor: LookedFor | null;
}

/** In a tree that is larger, nobody reads the rest. */
export const TREE_TOO_LARGE = "tree_too_large";

/** Computes the manifest and the profile of a restored tree. It reads every byte. */
export async function treeManifest(
  root: string,
  signal: AbortSignal,
  { logicalBytes, lookedFor }: ManifestLimits = { logicalBytes: Infinity, lookedFor: null },
): Promise<TreeSummary> {
  const manifest = new Manifest();
  const times = new Times();
  const profiler = new FilesProfiler();
  const sums = lookedFor === null ? null : new RestoredSums(lookedFor);
  const buffers: Buffer[] = [];
  const unread = new Set<FileHandle>();
  const digested = mapInOrder(
    openedFiles(root, unread, logicalBytes),
    FILES_AT_ONCE,
    async ({ entry, modified, file }) => {
      if (file === null) return { entry, modified, sha256: null, looked: null };
      unread.delete(file);
      const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES);
      try {
        let looked: LookedAt | null = null;
        const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
        const sha256 = await sha256Of(file, buffer, signal, (start) => (looked = lookAtFile(name, start)));
        return { entry, modified, sha256, looked };
      } finally {
        buffers.push(buffer);
      }
    },
  );
  for await (const { entry, modified, sha256, looked } of digested) {
    signal.throwIfAborted();
    manifest.add(entry, sha256);
    sums?.add(entry, sha256, modified);
    if (looked !== null) profiler.add(looked);
    if (entry.kind !== "hardlink") times.add(entry.path, modified);
  }
  return {
    ...manifest.finish(),
    times: times.finish(),
    profile: profiler.end(),
    ...(sums === null ? {} : { summed: sums.finish() }),
  };
}

/**
 * Opens files while the walk is in their directory: later, their path may be too long for a system
 * call.
 */
interface Opened {
  readonly entry: TreeEntry;
  readonly modified: Moment;
  readonly file: FileHandle | null;
}

async function* openedFiles(
  root: string,
  unread: Set<FileHandle>,
  logicalBytes: number,
): AsyncGenerator<Opened, void, undefined> {
  let bytes = 0;
  try {
    for await (const { entry, stats, at } of walkTree(root)) {
      if (entry.kind === "file") bytes += entry.size;
      if (bytes > logicalBytes)
        throw Object.assign(new Error("the tree is too large"), { code: TREE_TOO_LARGE });
      const file = entry.kind === "file" ? await openFile(at) : null;
      if (file !== null) unread.add(file);
      yield { entry, modified: stats.mtimeNs, file };
    }
  } finally {
    for (const file of unread) await file.close();
  }
}

/**
 * SHA-256 in hex of a file in a throw-away tree. If the file is not readable, it is made readable.
 */
export async function fileSha256(path: Buffer, buffer: Buffer, signal: AbortSignal): Promise<string> {
  return sha256Of(await openFile(path), buffer, signal);
}

/** Closes the file. `onStart` gets its first bytes, none of an empty one. */
async function sha256Of(
  file: FileHandle,
  buffer: Buffer,
  signal: AbortSignal,
  onStart?: (start: Buffer) => void,
): Promise<string> {
  try {
    const hash = createHash("sha256");
    for (let isStart = true; ; isStart = false) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (isStart) onStart?.(buffer.subarray(0, bytesRead));
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function openFile(path: Buffer): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return await open(path, flags);
  } catch (error) {
    if (errorCode(error) !== "EACCES") throw error;
    await chmod(path, 0o600);
    return open(path, flags);
  }
}
