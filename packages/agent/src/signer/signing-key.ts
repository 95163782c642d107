import { formatPublicKeyWire, sshFingerprint } from "@attestore/proof";
import type { PublicKey, Signer } from "@attestore/proof";

/** The agent's Ed25519 key pair; the private half stays inside `sign`. */
export interface SigningKey {
  readonly publicKey: PublicKey;
  /** Base64 of the 32 raw bytes, as in an attach. */
  readonly wire: string;
  /** `SHA256:…`, the keyid of every envelope, which people compare. */
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
 * Holds the private halves of the agent's signing keys: the current one, the next one, and one that
 * a rotation may have to bring back.
 */
export interface SigningKeys {
  /** @throws UserError `key_file`, `signer` */
  current(): Promise<SigningKey>;
  /** The same; makes one if there is none. */
  ensure(): Promise<SigningKey>;
  /** The key that a rotation will use; makes one if there is none. */
  next(): Promise<SigningKey>;
  /**
   * Keeps the current key aside and replaces it by the next one, in one step. Repeats are harmless.
   */
  takeNext(old: SigningKey, next: SigningKey): Promise<void>;
  /** Undoes that. */
  takeBack(fingerprint: string): Promise<void>;
  /** Removes one that was kept aside, for good. */
  forget(fingerprint: string): Promise<void>;
}
