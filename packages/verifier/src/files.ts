import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { CannotTell } from "./cannot-tell.ts";

/**
 * Reads a small file, or standard input for `-`. Throws CannotTell, also for more than `limit`
 * bytes.
 */
export async function readSmallFile(path: string, limit: number): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of open(path)) {
    size += part.length;
    if (size > limit)
      throw new CannotTell(
        "file_unreadable",
        `${path} has more than ${limit} bytes, so it is not the expected kind of file`,
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Returns the hex SHA-256 of a file of any size, in constant memory. Throws CannotTell. */
export async function fileSha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of open(path)) hash.update(part);
  return hash.digest("hex");
}

async function* open(path: string): AsyncGenerator<Buffer> {
  const stream: AsyncIterable<Buffer> =
    path === "-" ? process.stdin : createReadStream(path, { highWaterMark: 1024 * 1024 });
  try {
    yield* stream;
  } catch (error) {
    throw new CannotTell("file_unreadable", `${path} cannot be read: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
      return "no such file";
    case "EACCES":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
