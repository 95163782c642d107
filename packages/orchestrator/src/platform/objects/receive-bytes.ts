import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { ApiError } from "../errors/api-error.ts";

/** TLS delivers 16 KiB at a time; each write costs a trip to the thread pool. */
const BLOCK_BYTES = 256 * 1024;

/**
 * Reads a source that must have this many bytes, and hands them on in consecutive blocks. Memory
 * use does not depend on the size. The source is not destroyed on an error: it is a request whose
 * sender should still get an answer.
 * @returns their SHA-256 in lower-case hex
 * @throws ApiError `object_mismatch` for another length
 */
export async function receiveBytes(
  source: Readable,
  sizeBytes: number,
  write: (block: Buffer) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  let received = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const handOn = async (): Promise<void> => {
    const block = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    hash.update(block);
    await write(block);
  };
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > sizeBytes) throw mismatch("The request body is longer than its URL permits.");
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= BLOCK_BYTES) await handOn();
  }
  await handOn();
  if (received !== sizeBytes) throw mismatch("The request body is shorter than its URL says.");
  return hash.digest("hex");
}

/** Writes a whole block at a position: write(2) may write only a part of it. */
export async function writeAt(file: FileHandle, block: Buffer, position: number): Promise<void> {
  for (let done = 0; done < block.length;) {
    const { bytesWritten } = await file.write(block, done, block.length - done, position + done);
    done += bytesWritten;
  }
}

export function mismatch(message: string): ApiError {
  return new ApiError("object_mismatch", message);
}
