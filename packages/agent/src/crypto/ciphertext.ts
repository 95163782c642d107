import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";
import { DamagedCiphertext } from "./damaged.ts";
import { readFilePieces } from "./file-pieces.ts";

/**
 * Where the ciphertext comes from: a local file, or whatever `open` returns, such as a download.
 */
export type CiphertextSource = { readonly path: string } | { open(): Promise<Readable> };

/**
 * The ciphertext's bytes; a piece is valid until the next one is requested. @throws RunError
 * `ciphertext_unavailable`.
 */
export async function* readCiphertext(source: CiphertextSource): AsyncGenerator<Buffer, void, undefined> {
  if ("path" in source) {
    try {
      yield* readFilePieces(source.path);
    } catch (error) {
      throw unavailable(`the ciphertext ${source.path} cannot be read`, error);
    }
    return;
  }
  let stream: Readable | null = null;
  try {
    stream = await source.open();
    for await (const piece of stream) yield piece as Buffer;
  } catch (error) {
    throw unavailable("the download of the ciphertext was interrupted", error);
  } finally {
    stream?.destroy();
  }
}

/**
 * Passes the ciphertext on and, at its end, compares its SHA-256 (lower-case hex) with the recorded
 * one.
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
      `the ciphertext's SHA-256 is ${actual}, but the backup's is ${sha256}`,
    );
  }
}

function unavailable(what: string, error: unknown): RunError {
  return new RunError("ciphertext_unavailable", `${what} (${errorCode(error) ?? "unknown error"})`, {
    cause: error,
  });
}
