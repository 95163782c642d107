import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { CouldNotRun, systemCode } from "../runs/could-not-run.ts";
import { DamagedCiphertext } from "./damaged.ts";

/** Where the ciphertext comes from: a local file, or whatever `open` gives, such as a download. */
export type CiphertextSource = { readonly path: string } | { open(): Promise<Readable> };

const READ_BYTES = 1 << 20;

/** The ciphertext's bytes. @throws CouldNotRun `ciphertext_unavailable`. */
export async function* readCiphertext(source: CiphertextSource): AsyncGenerator<Buffer, void, undefined> {
  if ("path" in source) {
    yield* readFile(source.path);
    return;
  }
  let stream: Readable | null = null;
  try {
    stream = await source.open();
    for await (const piece of stream) yield piece as Buffer;
  } catch (error) {
    throw unavailable("the ciphertext's download broke off", error);
  } finally {
    stream?.destroy();
  }
}

/** Reads on while the last piece is being worked on. */
async function* readFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    throw unavailable(`the ciphertext ${path} cannot be opened`, error);
  }
  const read = (position: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const piece = file
      .read(buffer, 0, READ_BYTES, position)
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    // Its rejection is seen when its turn comes.
    piece.catch(() => undefined);
    return piece;
  };
  let position = 0;
  let next = read(position);
  try {
    for (let piece = await next; piece.length > 0; piece = await next) {
      position += piece.length;
      next = read(position);
      yield piece;
    }
  } catch (error) {
    throw unavailable(`the ciphertext ${path} cannot be read`, error);
  } finally {
    // Not closed while it is being read.
    await next.catch(() => undefined);
    await file.close();
  }
}

/**
 * Passes the ciphertext on and compares its SHA-256 (lower-case hex) with the recorded one at its end.
 * @throws DamagedCiphertext `digest_mismatch` instead of returning.
 */
export async function* holdToDigest(
  ciphertext: AsyncIterable<Buffer>,
  sha256: string,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash("sha256");
  for await (const piece of ciphertext) {
    hash.update(piece);
    yield piece;
  }
  const actual = hash.digest("hex");
  if (actual !== sha256) {
    throw new DamagedCiphertext(
      "digest_mismatch",
      `the ciphertext's SHA-256 is ${actual}, the backup's is ${sha256}`,
    );
  }
}

function unavailable(what: string, error: unknown): CouldNotRun {
  return new CouldNotRun("ciphertext_unavailable", `${what} (${systemCode(error) ?? "unknown error"})`, {
    cause: error,
  });
}
