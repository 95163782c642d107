import { Encrypter, type Recipient } from "age-encryption";
import { parseSshPublicKey } from "./ssh-public-key.ts";
import { sshRecipient } from "./ssh-age.ts";

/**
 * `age1…` (X25519), as written: anything else that begins like this is another kind of key, or a
 * typing mistake.
 */
const AGE_RECIPIENT = /^age1[02-9ac-hj-np-z]{58}$/;

/**
 * The recipient of an `age1…` or SSH public key line, for age-encryption's Encrypter; null if it is
 * neither. The checksum of an age1… key is verified.
 */
export function recipientFrom(text: string): string | Recipient | null {
  if (!AGE_RECIPIENT.test(text)) {
    const ssh = parseSshPublicKey(text);
    return ssh === null ? null : sshRecipient(ssh);
  }
  try {
    new Encrypter().addRecipient(text);
    return text;
  } catch {
    return null;
  }
}

/**
 * A recipient's form in config.yaml and receipts: an SSH key without its comment, which may be
 * anything.
 */
export function normalRecipient(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith("ssh-")
    ? trimmed
        .split(/[ \t]+/)
        .slice(0, 2)
        .join(" ")
    : trimmed;
}
