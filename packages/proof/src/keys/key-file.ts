import { fromBase64, toBase64 } from "../base64.ts";
import { ProofError } from "../proof-error.ts";
import { parsePublicKeyWire, publicKeyFromSpki, publicKeyToSpki, type PublicKey } from "./public-key.ts";
import { parseSshLine } from "./ssh.ts";

const PEM = /^-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=\r\n]+)\r?\n-----END PUBLIC KEY-----$/;

/**
 * Parses the text of a key file: PEM (`BEGIN PUBLIC KEY`), an OpenSSH line, or base64 of the wire
 * form. Surrounding white space is ignored. Throws `malformed_key`.
 */
export function parsePublicKeyFile(text: string): PublicKey {
  const trimmed = text.trim();
  if (trimmed.length > 4096) throw new ProofError("malformed_key", "too long for one public key");
  if (trimmed.includes("PRIVATE KEY"))
    throw new ProofError(
      "malformed_key",
      "this is a private key: give the public one, and keep this one to yourself",
    );
  if (trimmed.startsWith("-----")) return parsePem(trimmed);
  if (/^(ssh-|ecdsa-)/.test(trimmed)) return parseSshLine(trimmed);
  return parsePublicKeyWire(trimmed);
}

/**
 * Formats the SubjectPublicKeyInfo as PEM, as openssl writes it. `openssl pkeyutl -pubin -inkey`
 * accepts it.
 */
export function formatPublicKeyPem(key: PublicKey): string {
  const lines = toBase64(publicKeyToSpki(key)).match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PUBLIC KEY-----", ...lines, "-----END PUBLIC KEY-----", ""].join("\n");
}

function parsePem(text: string): PublicKey {
  const body = PEM.exec(text)?.[1];
  if (body === undefined) throw new ProofError("malformed_key", "not one PEM block named PUBLIC KEY");
  let der: Uint8Array;
  try {
    der = fromBase64(body.replace(/[\r\n]/g, ""));
  } catch {
    throw new ProofError("malformed_key", "the PEM block is not base64");
  }
  return publicKeyFromSpki(der);
}
