import { open, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { isDiskFull } from "@attestore/host/errno";
import { type Claim, type DiskRoom, noRoom } from "./disk-room.ts";
import { mismatch, receiveBytes } from "./receive-bytes.ts";

export interface ExpectedObject {
  sizeBytes: number;
  sha256: string;
}

export interface Reception {
  source: Readable;
  expected: ExpectedObject;
  /** A path that nobody else uses, in the object's file system. */
  temporary: string;
  room: DiskRoom;
  /** Gives the file, which is safely on the disk, its name as an object. */
  publish: () => Promise<void>;
}

/**
 * Streams an object to disk and gives it its name only when it is whole, has the expected length
 * and digest, and is safely on the disk. A crash at any moment leaves the temporary file or the
 * object, never part of one under its name. Memory use does not depend on the size.
 * @throws ApiError `object_mismatch` for other bytes, `unavailable` if the disk is full
 */
export async function receiveObject({
  source,
  expected,
  temporary,
  room,
  publish,
}: Reception): Promise<void> {
  const claim = await room.claim(expected.sizeBytes);
  try {
    await writeVerified(source, { expected, temporary, claim });
    await publish();
  } catch (error) {
    await rm(temporary, { force: true });
    if (isDiskFull(error)) throw noRoom();
    throw error;
  } finally {
    claim.release();
  }
}

async function writeVerified(
  source: Readable,
  { expected, temporary, claim }: Pick<Reception, "expected" | "temporary"> & { claim: Claim },
): Promise<void> {
  const file = await open(temporary, "wx", 0o600);
  try {
    const sha256 = await receiveBytes(source, expected.sizeBytes, async (block) => {
      await file.writeFile(block);
      claim.written(block.length);
    });
    if (sha256 !== expected.sha256) throw mismatch("The object's SHA-256 is not the one its URL permits.");
    await file.sync();
  } finally {
    await file.close();
  }
}
