import { ensureAgeIdentity } from "../../crypto/age-identity.ts";
import { normalRecipient, recipientFrom } from "../../crypto/recipient.ts";
import { wrongKey } from "../../errors/wrong-key.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import { SIGNER_DIRECTORY } from "../../signer/command.ts";
import { signerSocket } from "../../signer/open-signing-keys.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call } from "../invocation/command.ts";

/**
 * Chooses the recipients of a new root: the named ones, those in its config.yaml, or a new key pair
 * of its own.
 */
export async function chooseRecipients(
  { flags }: Call,
  layout: Layout,
  before: Config | null,
): Promise<{ recipients: readonly string[]; identityFiles: readonly string[] }> {
  const given = flags
    .text("recipient")
    ?.split(",")
    .map((each) => each.trim());
  if (given !== undefined) {
    for (const each of given) requireRecipient(each);
    return { recipients: given.map(normalRecipient), identityFiles: [] };
  }
  if (before !== null && before.recipients.length > 0)
    return { recipients: before.recipients, identityFiles: before.identityFiles };
  const recipient = await ensureAgeIdentity(layout.ageIdentity, await signerSocket(layout));
  return { recipients: [recipient], identityFiles: ["keys/age.key"] };
}

/** @throws UserError usage, which does not repeat what may be a secret */
export function requireRecipient(text: string): void {
  if (recipientFrom(text) !== null) return;
  throw new UserError(
    "usage",
    `--recipient takes age1… keys and ssh-ed25519 or ssh-rsa public keys, separated by commas${wrongKey(text)}`,
  );
}

/** Where the identity is that the user must keep a copy of, in words. */
export async function identityPlace(layout: Layout): Promise<string> {
  return (await signerSocket(layout)) === null
    ? layout.ageIdentity
    : `${SIGNER_DIRECTORY}/age.key (which root can read)`;
}
