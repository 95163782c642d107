import { createHash } from "node:crypto";
import { chmod, open, type FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { mapInOrder } from "../../pipeline/map-in-order.ts";
import { systemCode } from "../../root/system-code.ts";
import { Manifest, type ManifestSummary } from "./manifest.ts";
import { pathIn, walkTree } from "./walk-tree.ts";

const FILES_AT_ONCE = 8;
const READ_BYTES = 256 * 1024;

/** The manifest of a restored tree, every byte of it read. */
export async function treeManifest(root: string, signal: AbortSignal): Promise<ManifestSummary> {
  const manifest = new Manifest();
  const buffers: Buffer[] = [];
  const digested = mapInOrder(walkTree(root), FILES_AT_ONCE, async ({ entry }) => {
    if (entry.kind !== "file") return { entry, sha256: null };
    const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES);
    try {
      return { entry, sha256: await fileSha256(pathIn(root, entry.path), buffer, signal) };
    } finally {
      buffers.push(buffer);
    }
  });
  for await (const { entry, sha256 } of digested) {
    signal.throwIfAborted();
    manifest.add(entry, sha256);
  }
  return manifest.finish();
}

/** SHA-256 in hex of a file of a tree that is thrown away: it is made readable if it is not. */
export async function fileSha256(path: Buffer, buffer: Buffer, signal: AbortSignal): Promise<string> {
  const file = await openFile(path);
  try {
    const hash = createHash("sha256");
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
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
    if (systemCode(error) !== "EACCES") throw error;
    await chmod(path, 0o600);
    return open(path, flags);
  }
}
