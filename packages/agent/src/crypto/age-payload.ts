import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";
import { BlockPool, cutIntoBlocks, release } from "../processes/blocks.ts";
import { DamagedCiphertext } from "./damaged.ts";

/**
 * STREAM (C2SP age.md, "Payload"): ChaCha20-Poly1305 in chunks of 64 KiB; the nonce is a counter
 * and a last-chunk flag.
 */
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const CHUNKS_AT_ONCE = 16;
const CIPHER = "chacha20-poly1305";
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES };

type Flag = "more" | "last";

/**
 * Seals a stream. A piece of output (many chunks) is valid until the next one is requested: its
 * memory is reused, because fresh memory costs more than the cipher.
 */
export async function* encryptPayload(
  source: AsyncIterable<Uint8Array>,
  key: KeyObject,
): AsyncGenerator<Buffer, void, undefined> {
  const output = Buffer.allocUnsafe(CHUNKS_AT_ONCE * SEALED_CHUNK_BYTES);
  let counter = 0;
  for await (const { block, last } of blocksAndTheirLast(source, CHUNKS_AT_ONCE * CHUNK_BYTES)) {
    let filled = 0;
    for (let from = 0; from < block.length || (last && from === 0); from += CHUNK_BYTES) {
      const plain = block.subarray(from, from + CHUNK_BYTES);
      const flag = last && from + CHUNK_BYTES >= block.length ? "last" : "more";
      filled += sealChunk(key, counter, flag, plain, output.subarray(filled));
      counter += 1;
    }
    yield output.subarray(0, filled);
  }
}

/**
 * Opens a stream. A piece of output is valid until the next one is requested. Each chunk is
 * authenticated before it is handed on, but only the generator's return means that the stream was
 * whole: a reader that stops earlier has read an unauthenticated length.
 * @throws DamagedCiphertext `payload_damaged`, `truncated`, `trailing_data`.
 */
export async function* decryptPayload(
  source: AsyncIterable<Uint8Array>,
  key: KeyObject,
): AsyncGenerator<Buffer, void, undefined> {
  const output = Buffer.allocUnsafe(CHUNKS_AT_ONCE * CHUNK_BYTES);
  let counter = 0;
  for await (const { block, last } of blocksAndTheirLast(source, CHUNKS_AT_ONCE * SEALED_CHUNK_BYTES)) {
    let filled = 0;
    for (let from = 0; from < block.length || (last && from === 0); from += SEALED_CHUNK_BYTES) {
      const sealed = block.subarray(from, from + SEALED_CHUNK_BYTES);
      const flag = last && from + SEALED_CHUNK_BYTES >= block.length ? "last" : "more";
      const plain = openChunk(key, counter, flag, sealed);
      if (plain === null)
        throw flag === "last" ? damagedEnd(key, counter, sealed) : damagedChunk(key, counter, sealed);
      if (plain.length === 0 && counter > 0) {
        throw new DamagedCiphertext("payload_damaged", "the age payload ends in an empty chunk");
      }
      filled += plain.copy(output, filled);
      release(plain);
      counter += 1;
    }
    yield output.subarray(0, filled);
  }
}

/**
 * Blocks of `size`, one held back: only what follows shows whether a block is the last. An empty
 * stream has one empty block.
 */
async function* blocksAndTheirLast(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ block: Buffer; last: boolean }, void, undefined> {
  const pool = new BlockPool(size);
  let held: Buffer | null = null;
  for await (const block of cutIntoBlocks(source, size, pool)) {
    if (held !== null) {
      yield { block: held, last: false };
      pool.give(held);
    }
    held = block;
  }
  yield { block: held ?? Buffer.alloc(0), last: true };
}

function damagedChunk(key: KeyObject, counter: number, sealed: Buffer): DamagedCiphertext {
  return openChunk(key, counter, "last", sealed) === null
    ? new DamagedCiphertext("payload_damaged", `chunk ${counter} of the age payload does not authenticate`)
    : new DamagedCiphertext(
        "trailing_data",
        `there is data after the end of the age payload, chunk ${counter}`,
      );
}

function damagedEnd(key: KeyObject, counter: number, rest: Buffer): DamagedCiphertext {
  // At a chunk boundary the rest is a whole chunk that itself says that more follows.
  if (rest.length < TAG_BYTES || openChunk(key, counter, "more", rest) !== null) {
    return new DamagedCiphertext("truncated", `the age payload stops after chunk ${counter}, before its end`);
  }
  // Anywhere else a cut and a changed byte look alike, and something may follow a short last chunk.
  return new DamagedCiphertext(
    "payload_damaged",
    `chunk ${counter}, the last of the age payload, is cut short or does not authenticate`,
  );
}

function chunkNonce(counter: number, flag: Flag): Buffer {
  const nonce = Buffer.alloc(12);
  // 48 of the counter's 88 bits: enough for 16 exabytes.
  nonce.writeUIntBE(counter, 5, 6);
  nonce[11] = flag === "last" ? 1 : 0;
  return nonce;
}

function sealChunk(key: KeyObject, counter: number, flag: Flag, plain: Buffer, output: Buffer): number {
  const cipher = createCipheriv(CIPHER, key, chunkNonce(counter, flag), CIPHER_OPTIONS);
  const sealed = cipher.update(plain);
  sealed.copy(output);
  release(sealed);
  cipher.final();
  cipher.getAuthTag().copy(output, plain.length);
  return plain.length + TAG_BYTES;
}

/** The chunk's plaintext, or null if it does not authenticate. */
function openChunk(key: KeyObject, counter: number, flag: Flag, sealed: Buffer): Buffer | null {
  if (sealed.length < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, chunkNonce(counter, flag), CIPHER_OPTIONS);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plain = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}
