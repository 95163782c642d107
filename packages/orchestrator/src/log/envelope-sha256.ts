import { sha256, type Envelope, type Hash } from "@attestore/proof";

/**
 * Identifies a submission: two are the same if payload and signature are, however their JSON is
 * written. The payload type is not part of it, because only one type is accepted.
 */
export function envelopeSha256(payloadSha256: Hash, { signature }: Pick<Envelope, "signature">): Buffer {
  return Buffer.from(sha256(Buffer.concat([payloadSha256, signature])));
}
