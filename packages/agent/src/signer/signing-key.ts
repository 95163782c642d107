import { formatPublicKeyWire, sshFingerprint } from "@attestore/proof";
import type { PublicKey, Signer } from "@attestore/proof";

/** The agent's Ed25519 key pair; the private half stays inside `sign`. */
export interface SigningKey {
  readonly publicKey: PublicKey;
  /** Base64 of the 32 raw bytes, as an attach names it. */
  readonly wire: string;
  /** `SHA256:…`, the keyid of every envelope and what a person compares. */
  readonly fingerprint: string;
  readonly sign: Signer;
}

export function signingKey(publicKey: PublicKey, signer: Signer): SigningKey {
  return {
    publicKey,
    wire: formatPublicKeyWire(publicKey),
    fingerprint: sshFingerprint(publicKey),
    sign: signer,
  };
}

/**
 * Whoever holds the private halves of the agent's signing keys: the one in use, the next one, and
 * one that a rotation may have to give back.
 */
export interface SigningKeys {
  /** @throws UserError `key_file`, `signer` */
  current(): Promise<SigningKey>;
  /** The same, made if there is none. */
  ensure(): Promise<SigningKey>;
  /** The one that a rotation takes into use: made if there is none. */
  next(): Promise<SigningKey>;
  /**
   * The key in use is kept aside, and the next one takes its place, in one step. Repeats are
   * harmless.
   */
  takeNext(old: SigningKey, next: SigningKey): Promise<void>;
  /** Undoes that. */
  takeBack(fingerprint: string): Promise<void>;
  /** One that was kept aside, for good. */
  forget(fingerprint: string): Promise<void>;
}
