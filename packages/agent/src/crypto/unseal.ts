import { decryptPayload } from "./age-payload.ts";
import { findHeaderEnd, MAX_HEADER_BYTES, openHeader, PAYLOAD_NONCE_BYTES } from "./age-header.ts";
import { DamagedCiphertext } from "./damaged.ts";
import { decompress } from "./decompress.ts";

/**
 * The dump in a ciphertext. Everything it yields is authentic, but only its return means that it is
 * whole: nothing made from it counts before that.
 * @throws DamagedCiphertext; RunError `identity_missing`; whatever `ciphertext` throws.
 */
export async function* unseal(
  ciphertext: AsyncIterable<Buffer>,
  identities: readonly string[],
): AsyncGenerator<Buffer, void, undefined> {
  const pieces = ciphertext[Symbol.asyncIterator]();
  try {
    const start = await readStart(pieces);
    const headerEnd = findHeaderEnd(start);
    const payloadStart = headerEnd + PAYLOAD_NONCE_BYTES;
    if (start.length < payloadStart)
      throw new DamagedCiphertext("truncated", "the age file stops after its header");
    const key = await openHeader(
      start.subarray(0, headerEnd),
      start.subarray(headerEnd, payloadStart),
      identities,
    );
    yield* decompress(decryptPayload(withStart(start.subarray(payloadStart), pieces), key));
  } finally {
    await pieces.return?.();
  }
}

/** At least as much as a header may take, or everything if that is less. */
async function readStart(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  let length = 0;
  while (length < MAX_HEADER_BYTES + PAYLOAD_NONCE_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    // A copy, because a piece is valid until the next one is requested.
    read.push(Buffer.from(next.value));
    length += next.value.length;
  }
  return Buffer.concat(read);
}

async function* withStart(
  start: Buffer,
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  if (start.length > 0) yield start;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
