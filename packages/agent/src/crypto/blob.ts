import { createHash, type Hash, randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { moveFile } from "@attestore/host/durable-files";
import { isAlive, ownProcessTag } from "../processes/process-tag.ts";
import { writeFilePieces } from "./file-pieces.ts";

export interface Blob {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

const PARTIAL = /^\.partial-([0-9a-f-]+)\.[0-9a-f]{12}$/;

/**
 * Writes a ciphertext to `blobsDir` under the name `<sha256>.age`, and hashes it meanwhile.
 * The bytes are fsynced before the rename and the directory after it. So a visible name always has
 * a whole file, and a file that was acknowledged survives a power cut. kill -9 before the rename
 * leaves a `.partial-…` of ciphertext, which the next call removes. Two calls at once never share a
 * partial file; the same bytes get the same name.
 */
export async function writeBlob(
  ciphertext: AsyncIterable<Uint8Array>,
  blobsDir: string,
  signal: AbortSignal,
): Promise<Blob> {
  await mkdir(blobsDir, { recursive: true, mode: 0o700 });
  await removeAbandonedPartials(blobsDir);
  const partial = join(blobsDir, `.partial-${ownProcessTag()}.${randomBytes(6).toString("hex")}`);
  const hash = createHash("sha256");
  try {
    const sizeBytes = await writeFilePieces(partial, holdingDigest(ciphertext, hash), signal);
    const sha256 = hash.digest("hex");
    const path = join(blobsDir, `${sha256}.age`);
    await moveFile(partial, path);
    return { path, sha256, sizeBytes };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function* holdingDigest(
  pieces: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}

async function removeAbandonedPartials(blobsDir: string): Promise<void> {
  for (const name of await readdir(blobsDir)) {
    const owner = PARTIAL.exec(name)?.[1];
    if (owner !== undefined && !isAlive(owner)) await rm(join(blobsDir, name), { force: true });
  }
}
