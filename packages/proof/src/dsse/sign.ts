import type { Envelope } from "./envelope.ts";
import { pae } from "./pae.ts";

/**
 * Signs a message. The key stays inside the signer. Returns 64 bytes for Ed25519 and DER for ECDSA
 * P-256.
 */
export type Signer = (message: Uint8Array) => Promise<Uint8Array> | Uint8Array;

/**
 * Signs the DSSE pre-authentication encoding of a payload. `keyid` is the SSH fingerprint of the
 * signing key.
 */
export async function signEnvelope(input: {
  payloadType: string;
  payload: Uint8Array;
  keyid: string;
  sign: Signer;
}): Promise<Envelope> {
  const { payloadType, payload, keyid, sign } = input;
  return { payloadType, payload, keyid, signature: await sign(pae(payloadType, payload)) };
}
