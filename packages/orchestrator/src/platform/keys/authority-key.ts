/** The P-256 key of the service's own certificate authority, wherever its private half is. */
export interface AuthorityKey {
  /** SubjectPublicKeyInfo, DER. */
  spki: Uint8Array;
  /**
   * ECDSA over the message's SHA-256: r and s, 32 bytes each. Rejects where the key cannot be used
   * right now.
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
}
