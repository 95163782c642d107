import { createHash, hash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { absoluteOf, type Entry, walk } from "./walk.ts";

export interface Manifest {
  /** SHA-256 in hex over one JSON array for each entry, in the order of the walk: type, path, mode, size, content or target. */
  readonly sha256: string;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  /** @see treeIdentity */
  readonly identity: string;
}

const READ_BYTES = 1 << 20;

/** Reads every file below a directory. */
export async function readManifest(root: string, signal: AbortSignal): Promise<Manifest> {
  const manifest = createHash("sha256");
  const identity = createHash("sha256");
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let [files, directories, bytes] = [0, 0, 0];
  for await (const entry of walk(root, signal)) {
    identity.update(identityLine(entry));
    const isFile = entry.type === "file";
    const size = isFile ? Number(entry.stats.size) : 0;
    const content = isFile ? await contentDigest(absoluteOf(root, entry.path), buffer, signal) : entry.target;
    const mode = entry.type === "link" ? 0 : Number(entry.stats.mode & 0o7777n);
    manifest.update(`${JSON.stringify([entry.type, entry.path, mode, size, content])}\n`);
    if (isFile) files += 1;
    if (entry.type === "directory") directories += 1;
    bytes += size;
  }
  return { sha256: manifest.digest("hex"), files, directories, bytes, identity: identity.digest("hex") };
}

/**
 * A digest over what the file system says of every entry. The same before and after means that nothing was written in
 * between: a write moves the time of the inode, which no program can set back.
 */
export async function treeIdentity(root: string, signal: AbortSignal): Promise<string> {
  const identity = createHash("sha256");
  for await (const entry of walk(root, signal)) identity.update(identityLine(entry));
  return identity.digest("hex");
}

function identityLine({ path, type, stats }: Entry): string {
  return `${JSON.stringify([type, path, ...[stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].map(String)])}\n`;
}

async function contentDigest(path: Buffer, buffer: Buffer, signal: AbortSignal): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const first = await file.read(buffer, 0, READ_BYTES, 0);
    // Most files are small, and then one call does.
    if (first.bytesRead < READ_BYTES) return hash("sha256", buffer.subarray(0, first.bytesRead), "hex");
    const digest = createHash("sha256");
    for (let position = 0, { bytesRead } = first; bytesRead > 0;) {
      signal.throwIfAborted();
      digest.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
      ({ bytesRead } = await file.read(buffer, 0, READ_BYTES, position));
    }
    return digest.digest("hex");
  } finally {
    await file.close();
  }
}
