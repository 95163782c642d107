import { encryptPayload } from "./age-payload.ts";
import { makeHeader } from "./age-header.ts";
import { compress } from "./compress.ts";

/**
 * A dump as ciphertext: zstd frames in an age v1 file, which `age -d | zstd -d` reads.
 * @throws RunError `recipient_invalid`; whatever `source` throws.
 */
export async function* seal(
  source: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Buffer, void, undefined> {
  const header = await makeHeader(recipients);
  yield header.bytes;
  yield* encryptPayload(compress(source), header.payloadKey);
}
