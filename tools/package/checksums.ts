import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Writes SHA256SUMS, as `sha256sum` reads it, over files of a directory, and returns its path. */
export async function writeChecksums(directory: string, names: readonly string[]): Promise<string> {
  const lines: string[] = [];
  for (const name of names.toSorted()) lines.push(`${await sha256Of(join(directory, name))}  ${name}\n`);
  const path = join(directory, "SHA256SUMS");
  await writeFile(path, lines.join(""));
  return path;
}

/**
 * Of files as they were when they were read: an executable of 110 MB is named in three kinds of
 * files.
 */
const known = new Map<string, Promise<string>>();

/** In hex. */
export async function sha256Of(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  const file = [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
  const sum = known.get(file) ?? read(path);
  known.set(file, sum);
  return sum;
}

async function read(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
