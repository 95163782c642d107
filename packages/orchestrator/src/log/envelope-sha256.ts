import { pae, sha256, type Envelope } from "@attestore/proof";

/** What makes two submissions the same one: what was signed, and the signature. However their JSON is written. */
export function envelopeSha256({ payloadType, payload, signature }: Envelope): Buffer {
  return Buffer.from(sha256(Buffer.concat([pae(payloadType, payload), signature])));
}
