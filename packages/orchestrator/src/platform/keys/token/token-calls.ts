/**
 * What the service and its token process say to each other, over Node's channel with structured
 * clones.
 */

/** Ed25519 for logs, P-256 for the certificate authority, AES with 256 bits for sealing. */
export type KeyKind = "ed25519" | "p256" | "aes256";

/**
 * A private key on its way into the token: the seed of Ed25519 or the number of P-256, with the
 * public half.
 */
export interface PrivateMaterial {
  secret: Uint8Array;
  publicKey: Uint8Array;
}

/** `uri` is a PKCS#11 URI (pkcs11-uri.ts). */
export type TokenCall =
  | { is: "find"; uri: string; kind: KeyKind }
  /** The message for ed25519; its SHA-256 digest for p256. */
  | { is: "sign"; uri: string; kind: "ed25519" | "p256"; data: Uint8Array }
  /** AES-GCM; the answer ends with the 16-byte tag. */
  | { is: "encrypt"; uri: string; iv: Uint8Array; aad: Uint8Array; data: Uint8Array }
  | { is: "decrypt"; uri: string; iv: Uint8Array; aad: Uint8Array; data: Uint8Array }
  | { is: "generate"; uri: string; kind: KeyKind }
  | { is: "import"; uri: string; kind: "ed25519" | "p256"; material: PrivateMaterial };

/**
 * The result of looking up a key: its public half (32 bytes, or 65 for an uncompressed point); none
 * for an AES key. Null if there is no such key.
 */
export type FoundKey = { publicKey: Uint8Array } | null;

export type TokenAnswer = Uint8Array | FoundKey;

/** The first message to the process. */
export interface TokenLogin {
  module: string;
  pin: string;
}

export type TokenFailureReason =
  /** The module's file cannot be loaded, or is not a module. */
  | "module"
  /** No token matches the URI. */
  | "token"
  /** The token refused the PIN. It may lock itself after a few, so it is not tried again. */
  | "pin"
  /** There are several such keys, or one of the wrong kind. */
  | "key"
  /** The token is no longer connected; a new process may succeed. */
  | "lost"
  /** The ciphertext was changed. */
  | "data"
  /** Any other refusal. */
  | "refused"
  /** No answer came in time. */
  | "silent";

export interface TokenFailure {
  reason: TokenFailureReason;
  message: string;
}

export interface CallMessage {
  id: number;
  call: TokenCall;
}

export type AnswerMessage = { id: number; answer: TokenAnswer } | { id: number; failure: TokenFailure };
