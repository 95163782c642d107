import type { PublicKey } from "@attestore/proof";

/** Where whoever asks has a key from. None of them is the operator, as far as they are right. */
export interface KeySource {
  /** `file`: by --key. `list`: by --keys. `signed_list`: by --keys, which an owner signed (--owner-key). */
  kind: "file" | "list" | "signed_list";
  /** As it was named. */
  where: string;
}

/** An agent's key that whoever asks gave. */
export interface PinnedKey {
  publicKey: PublicKey;
  fingerprint: string;
  /** The one agent that it is of; null for any. */
  agentId: string | null;
  /** RFC 3339: no pack that ends before has it. Null: it should be in every one. */
  since: string | null;
  source: KeySource;
}
