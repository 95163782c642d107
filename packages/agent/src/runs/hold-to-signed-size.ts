import type { SourceLimits } from "../config/source-limits.ts";
import { RestoreRefused } from "../engines/engine.ts";
import { atMost } from "../engines/enforce-limits.ts";

/**
 * Passes a backup's plaintext on, and checks that it has as many bytes as the backup's receipt
 * says. If a receipt does not state the size, as older ones don't, the source's `limits.bytes`
 * limits the plaintext instead.
 * @throws RestoreRefused as soon as there is one byte more, or at the end if there are fewer
 */
export async function* holdToSignedSize(
  plaintext: AsyncIterable<Buffer>,
  signed: unknown,
  { bytes: limit }: SourceLimits,
): AsyncGenerator<Buffer, void, undefined> {
  const isSigned = typeof signed === "number" && Number.isSafeInteger(signed) && signed >= 0;
  const most = isSigned ? signed : limit;
  const whose = isSigned ? "that its receipt says" : "of limits.bytes of the source";
  const bytes = yield* atMost(
    plaintext,
    most,
    () =>
      new RestoreRefused(`the backup unpacks to more than the ${most} bytes ${whose}: writing stopped there`),
  );
  if (isSigned && bytes !== signed)
    throw new RestoreRefused(`the backup unpacks to ${bytes} bytes, and its receipt says ${signed}`);
}
