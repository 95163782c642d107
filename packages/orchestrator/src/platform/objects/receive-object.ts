import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { errorCode } from "../errors/errno.ts";
import { makeDirectory, syncDirectory } from "../files/durable-write.ts";
import { ApiError } from "../http/errors.ts";
import { type Claim, type DiskRoom, noRoom } from "./disk-room.ts";

export interface ExpectedObject {
  sizeBytes: number;
  sha256: string;
}

export interface Reception {
  source: Readable;
  expected: ExpectedObject;
  /** A path that nobody else uses, in the file system of the object. */
  temporary: string;
  room: DiskRoom;
  /** Decides when, among others, the last step is taken. */
  publish: (finish: (target: string) => Promise<void>) => Promise<void>;
}

/** TLS gives 16 KiB at a time; a write costs a trip to the thread pool. */
const BLOCK_BYTES = 256 * 1024;
const DISK_FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Streams an object to disk and gives it its name only when it is whole, has the length and digest expected, and is on the platter.
 * A crash at any moment leaves the temporary file or the object, never part of one under its name. Memory use
 * does not depend on the size.
 *
 * @throws ApiError `object_mismatch` for other bytes, `unavailable` when the disk is full
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
    await publish(async (target) => {
      await makeDirectory(dirname(target));
      await rename(temporary, target);
      await syncDirectory(dirname(target));
    });
  } catch (error) {
    await rm(temporary, { force: true });
    if (DISK_FULL.has(errorCode(error) ?? "")) throw noRoom();
    throw error;
  } finally {
    claim.release();
  }
}

async function writeVerified(
  source: Readable,
  { expected, temporary, claim }: Pick<Reception, "expected" | "temporary"> & { claim: Claim },
): Promise<void> {
  const hash = createHash("sha256");
  let received = 0;
  const file = await open(temporary, "wx", 0o600);
  try {
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    const write = async (): Promise<void> => {
      const block = Buffer.concat(waiting);
      waiting = [];
      waitingBytes = 0;
      hash.update(block);
      await file.writeFile(block);
      claim.written(block.length);
    };
    // The source is not destroyed on an error: it is a request, whose sender is still to get an answer.
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > expected.sizeBytes) throw mismatch("The object is longer than its URL permits.");
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= BLOCK_BYTES) await write();
    }
    await write();
    if (received !== expected.sizeBytes) throw mismatch("The object is shorter than its URL says.");
    if (hash.digest("hex") !== expected.sha256)
      throw mismatch("The object's SHA-256 is not the one its URL permits.");
    await file.sync();
  } finally {
    await file.close();
  }
}

function mismatch(message: string): ApiError {
  return new ApiError("object_mismatch", message);
}
