import { keyKind, type KeyKind } from "@attestore/proof";

/** A description of each kind of key, and where it belongs. */
const BELONGS: Readonly<Record<KeyKind, string>> = {
  public: "this is the public half of a signing key: attestore-verify takes it with --key",
  log: "this is a log key: attestore-verify takes it with --log-key",
  witness: "this is a witness's key: attestore-verify takes it with --witness-key",
  private: "this is a private key, which stays in its own file: keep it secret",
  identity: "this is an age identity, which is secret: --identity and identity_files take a file with it",
  recipient: "this is an age recipient: --recipient takes it",
  auth_key: "this is an auth key: ATTESTORE_AUTH_KEY, or a file for --auth-key-file, takes it",
  token: "this is a token, with which an agent or a person is signed in: keep it secret",
  certificate: "this is a certificate: a file with it is for --ca-file",
  fingerprint:
    "this is a key's fingerprint: test_for in config.yaml takes that of another host's signing key",
};

/**
 * Describes the wrong key, for the end of a message: ` (this is …)`; empty if its kind is not
 * known. Never repeats any of it.
 */
export function wrongKey(given: string): string {
  const kind = keyKind(given);
  return kind === null ? "" : ` (${BELONGS[kind]})`;
}
