import { createCipheriv, createDecipheriv } from "node:crypto";
import { DamagedCiphertext } from "./damaged.ts";

/** STREAM (C2SP age.md, "Payload"): ChaCha20-Poly1305 in chunks of 64 KiB; the nonce is a counter and a last-chunk flag. */
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const CIPHER = "chacha20-poly1305";
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES };

type Flag = "more" | "last";

/** Seals a stream. Output comes in pieces of many chunks, one for each piece of input. */
export async function* encryptPayload(
  source: AsyncIterable<Uint8Array>,
  key: Buffer,
): AsyncGenerator<Buffer, void, undefined> {
  let counter = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    const input =
      rest.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.length)
        : Buffer.concat([rest, piece]);
    // A full chunk is held back too: only what follows tells whether it is the last one.
    const chunks = Math.max(0, Math.ceil(input.length / CHUNK_BYTES) - 1);
    if (chunks > 0) {
      const output = Buffer.allocUnsafe(chunks * SEALED_CHUNK_BYTES);
      for (let chunk = 0; chunk < chunks; chunk++) {
        const plain = input.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
        sealChunk(key, counter, "more", plain, output.subarray(chunk * SEALED_CHUNK_BYTES));
        counter += 1;
      }
      yield output;
    }
    // A copy: the piece belongs to whoever made it, and this outlives the turn.
    rest = Buffer.from(input.subarray(chunks * CHUNK_BYTES));
  }
  const output = Buffer.allocUnsafe(rest.length + TAG_BYTES);
  sealChunk(key, counter, "last", rest, output);
  yield output;
}

/**
 * Opens a stream. Each chunk is authenticated before it is handed on, but only the return of the generator says that
 * the stream was whole: a reader that stops earlier has read an unauthenticated length.
 * @throws DamagedCiphertext `payload_damaged`, `truncated`, `trailing_data`.
 */
export async function* decryptPayload(
  source: AsyncIterable<Uint8Array>,
  key: Buffer,
): AsyncGenerator<Buffer, void, undefined> {
  let counter = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    const input =
      rest.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.length)
        : Buffer.concat([rest, piece]);
    const chunks = Math.max(0, Math.ceil(input.length / SEALED_CHUNK_BYTES) - 1);
    if (chunks > 0) {
      const output = Buffer.allocUnsafe(chunks * CHUNK_BYTES);
      for (let chunk = 0; chunk < chunks; chunk++) {
        const sealed = input.subarray(chunk * SEALED_CHUNK_BYTES, (chunk + 1) * SEALED_CHUNK_BYTES);
        const plain = openChunk(key, counter, "more", sealed);
        if (plain === null) throw damagedChunk(key, counter, sealed);
        plain.copy(output, chunk * CHUNK_BYTES);
        counter += 1;
      }
      yield output;
    }
    rest = Buffer.from(input.subarray(chunks * SEALED_CHUNK_BYTES));
  }
  const last = rest.length < TAG_BYTES ? null : openChunk(key, counter, "last", rest);
  if (last === null) throw damagedEnd(key, counter, rest);
  if (last.length === 0 && counter > 0) {
    throw new DamagedCiphertext("payload_damaged", "the age payload ends in an empty chunk");
  }
  yield last;
}

function damagedChunk(key: Buffer, counter: number, sealed: Buffer): DamagedCiphertext {
  return openChunk(key, counter, "last", sealed) === null
    ? new DamagedCiphertext("payload_damaged", `chunk ${counter} of the age payload does not authenticate`)
    : new DamagedCiphertext(
        "trailing_data",
        `something follows the end of the age payload, chunk ${counter}`,
      );
}

function damagedEnd(key: Buffer, counter: number, rest: Buffer): DamagedCiphertext {
  // At a chunk's border what is left is a whole chunk that says itself that more follows.
  if (rest.length < TAG_BYTES || openChunk(key, counter, "more", rest) !== null) {
    return new DamagedCiphertext("truncated", `the age payload stops after chunk ${counter}, before its end`);
  }
  // Anywhere else a cut and a changed byte look alike, and a short last chunk may also be followed by something.
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

function sealChunk(key: Buffer, counter: number, flag: Flag, plain: Buffer, output: Buffer): void {
  const cipher = createCipheriv(CIPHER, key, chunkNonce(counter, flag), CIPHER_OPTIONS);
  cipher.update(plain).copy(output);
  cipher.final();
  cipher.getAuthTag().copy(output, plain.length);
}

/** The chunk's plaintext, or null if it does not authenticate. */
function openChunk(key: Buffer, counter: number, flag: Flag, sealed: Buffer): Buffer | null {
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
