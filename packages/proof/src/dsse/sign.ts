import type { Envelope } from "./envelope.ts";
import { pae } from "./pae.ts";

/** Signs a message with a key that stays where it is. Ed25519: 64 bytes; ECDSA P-256: DER. */
export type Signer = (message: Uint8Array) => Promise<Uint8Array> | Uint8Array;

/** DSSE: signs the pre-authentication encoding of a payload. `keyid` is the SSH fingerprint of the signing key. */
export async function signEnvelope(input: {
  payloadType: string;
  payload: Uint8Array;
  keyid: string;
  sign: Signer;
}): Promise<Envelope> {
  const { payloadType, payload, keyid, sign } = input;
  return { payloadType, payload, keyid, signature: await sign(pae(payloadType, payload)) };
}
