import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isAlive, ownProcessTag } from "../processes/process-tag.ts";

export interface Blob {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

const PARTIAL = /^\.partial-([0-9a-f-]+)\.[0-9a-f]{12}$/;

/**
 * Writes a ciphertext into `blobsDir` under the name `<sha256>.age`, hashing it on the way.
 *
 * The bytes are fsynced before the rename and the directory after it, so a name that can be seen always holds a whole
 * file, and a file that was answered for survives a power cut. kill -9 before the rename leaves a `.partial-…` of
 * ciphertext, which the next call removes. Two at once never share a partial; the same bytes twice give the same name.
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
  let sizeBytes = 0;
  try {
    await pipeline(
      ciphertext,
      async function* (pieces: AsyncIterable<Uint8Array>) {
        for await (const piece of pieces) {
          hash.update(piece);
          sizeBytes += piece.length;
          yield piece;
        }
      },
      createWriteStream(partial, { flags: "wx", mode: 0o600, highWaterMark: 2 << 20, flush: true }),
      { signal },
    );
    const sha256 = hash.digest("hex");
    const path = join(blobsDir, `${sha256}.age`);
    await rename(partial, path);
    await syncDirectory(blobsDir);
    return { path, sha256, sizeBytes };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function removeAbandonedPartials(blobsDir: string): Promise<void> {
  for (const name of await readdir(blobsDir)) {
    const owner = PARTIAL.exec(name)?.[1];
    if (owner !== undefined && !isAlive(owner)) await rm(join(blobsDir, name), { force: true });
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
