import { parseVerifierKey } from "./notes/verifier-key.ts";
import { ProofError } from "./proof-error.ts";
import { parsePublicKeyFile } from "./keys/key-file.ts";

/**
 * What the text of a key, or of something that is taken for one, is.
 *
 * - `public`: a signing key's public half, such as an agent's
 * - `log`, `witness`: a verifier key (c2sp.org/signed-note)
 * - `private`: a private key in PEM, or a signed note's
 * - `identity`, `recipient`: age's private and public half
 * - `auth_key`, `token`: what attaches an agent, or signs somebody in
 */
export type KeyKind =
  | "public"
  | "log"
  | "witness"
  | "private"
  | "identity"
  | "recipient"
  | "auth_key"
  | "token"
  | "certificate"
  | "fingerprint";

const PATTERNS: readonly (readonly [KeyKind, RegExp])[] = [
  ["private", /-----BEGIN [A-Z ]*PRIVATE KEY-----|^PRIVATE\+KEY\+/m],
  ["identity", /^AGE-SECRET-KEY-/im],
  ["certificate", /^-----BEGIN CERTIFICATE-----/],
  ["recipient", /^age1[02-9ac-hj-np-z]{58}$/],
  ["auth_key", /^atk_[0-9a-z]{10}_[A-Za-z0-9_-]{32}$/],
  ["token", /^at[spl]s?_[A-Za-z0-9_-]{43}$/],
  ["fingerprint", /^SHA256:[A-Za-z0-9+/]{43}=?$/],
];

const LONGEST = 64 * 1024;

/**
 * Which kind of key a text is, so that a message can name it if somebody gave the wrong one. White
 * space around it does not matter. Null for anything else, and for more than 65,536 characters.
 */
export function keyKind(given: string): KeyKind | null {
  if (given.length > LONGEST) return null;
  const text = given.trim();
  for (const [kind, pattern] of PATTERNS) if (pattern.test(text)) return kind;
  const algorithm = attempt(() => parseVerifierKey(text))?.algorithm;
  if (algorithm !== undefined) return algorithm === "ed25519" ? "log" : "witness";
  return attempt(() => parsePublicKeyFile(text)) === null ? null : "public";
}

function attempt<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}
