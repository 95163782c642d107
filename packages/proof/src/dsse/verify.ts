import type { PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { verifySignature } from "../keys/verify-signature.ts";
import { ProofError } from "../proof-error.ts";
import type { Envelope } from "./envelope.ts";
import { pae } from "./pae.ts";

/**
 * Returns if the key signed the envelope's payload and type, and the keyid names that key. Throws
 * `envelope_signature_invalid` or `envelope_keyid_mismatch`. The keyid is not signed, so it never
 * makes a key trusted.
 */
export async function verifyEnvelope(envelope: Envelope, key: PublicKey): Promise<void> {
  const message = pae(envelope.payloadType, envelope.payload);
  if (!(await verifySignature(key, message, envelope.signature)))
    throw new ProofError(
      "envelope_signature_invalid",
      `the signature over this payload is not by ${sshFingerprint(key)}`,
    );
  if (envelope.keyid !== sshFingerprint(key))
    throw new ProofError(
      "envelope_keyid_mismatch",
      `the envelope does not name the key ${sshFingerprint(key)}`,
    );
}
