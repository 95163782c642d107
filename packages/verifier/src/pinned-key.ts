import type { PublicKey } from "@attestore/proof";

/** Where the caller has a key from. None of these is the operator, if the caller is right. */
export interface KeySource {
  /**
   * `file`: --key. `list`: --keys. `signed_list`: --keys with an owner's signature (--owner-key).
   */
  kind: "file" | "list" | "signed_list";
  /** The name under which it was given. */
  where: string;
}

/** An agent's key that the caller gave. */
export interface PinnedKey {
  publicKey: PublicKey;
  fingerprint: string;
  /** The one agent that the key belongs to; null for any agent. */
  agentId: string | null;
  /** RFC 3339: packs that end before this do not contain the key. Null: every pack should. */
  since: string | null;
  source: KeySource;
}
