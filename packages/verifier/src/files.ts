import { plural } from "@attestore/proof";
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

let tellOfRead: ((text: string) => void) | null = null;

/** From now on tells of each file that was read to its end: name, size, SHA-256. */
export function reportReads(tell: (text: string) => void): void {
  tellOfRead = tell;
}

async function* open(path: string): AsyncGenerator<Buffer> {
  const stream: AsyncIterable<Buffer> =
    path === "-" ? process.stdin : createReadStream(path, { highWaterMark: 1024 * 1024 });
  const hash = tellOfRead === null ? null : createHash("sha256");
  let size = 0;
  try {
    for await (const part of stream) {
      hash?.update(part);
      size += part.length;
      yield part;
    }
    if (hash !== null) tellOfRead?.(`read ${path}: ${plural(size, "byte")}, SHA-256 ${hash.digest("hex")}`);
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
