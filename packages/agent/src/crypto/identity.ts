import { Decrypter, identityToRecipient, type Identity } from "age-encryption";
import { socketOf } from "../signer-client/signer-reference.ts";
import { heldRecipients } from "../signer-client/remote-identities.ts";
import { sshIdentity } from "./ssh-age.ts";
import { isPrivateKeyPem, parseSshPrivateKey } from "./ssh-private-key.ts";

/**
 * The identity of an `AGE-SECRET-KEY-1…` or an SSH private key file, for age-encryption's
 * Decrypter; null if it is neither, or damaged. Throws SshKeyError for an SSH key that cannot be
 * used.
 */
export function identityFrom(text: string): string | Identity | null {
  if (isPrivateKeyPem(text)) return sshIdentity(parseSshPrivateKey(text));
  try {
    if (!text.startsWith("AGE-SECRET-KEY-1")) return null;
    new Decrypter().addIdentity(text);
    return text;
  } catch {
    // The library's own error quotes the key.
    return null;
  }
}

/**
 * The public halves of an identity, or of all identities that the signing process holds. @throws
 * UserError `signer`, SshKeyError
 */
export async function recipientsOf(text: string): Promise<readonly string[]> {
  const socket = socketOf(text);
  return socket === null ? [await recipientOf(text)] : heldRecipients(socket);
}

/** The public half of an identity, in config.yaml's form. */
export async function recipientOf(text: string): Promise<string> {
  if (!isPrivateKeyPem(text)) return identityToRecipient(text);
  const { type, wire } = parseSshPrivateKey(text).publicKey;
  return `${type} ${wire.toString("base64")}`;
}
