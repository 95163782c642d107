import { sha256, type Envelope, type Hash } from "@attestore/proof";

/**
 * What makes two submissions the same one: the payload and the signature over it, however their JSON is written. Of one payload
 * type, the only one that is taken.
 */
export function envelopeSha256(payloadSha256: Hash, { signature }: Pick<Envelope, "signature">): Buffer {
  return Buffer.from(sha256(Buffer.concat([payloadSha256, signature])));
}
