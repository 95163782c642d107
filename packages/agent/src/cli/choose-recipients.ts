import { ensureAgeIdentity } from "../crypto/age-identity.ts";
import { normalRecipient, recipientFrom } from "../crypto/recipient.ts";
import type { Config } from "../config/config.ts";
import type { Layout } from "../state/layout.ts";
import { SIGNER_DIRECTORY } from "../signer/command.ts";
import { signerSocket } from "../signer/open-signing-keys.ts";
import { UserError } from "../errors/user-error.ts";
import type { Call } from "./command.ts";

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
    const wrong = given.find((each) => recipientFrom(each) === null);
    if (wrong !== undefined)
      throw new UserError("usage", `"${wrong}" is neither an age recipient (age1…) nor an SSH public key`);
    return { recipients: given.map(normalRecipient), identityFiles: [] };
  }
  if (before !== null && before.recipients.length > 0)
    return { recipients: before.recipients, identityFiles: before.identityFiles };
  const recipient = await ensureAgeIdentity(layout.ageIdentity, await signerSocket(layout));
  return { recipients: [recipient], identityFiles: ["keys/age.key"] };
}

/** Where the identity is that the user must keep a copy of, in words. */
export async function identityPlace(layout: Layout): Promise<string> {
  return (await signerSocket(layout)) === null
    ? layout.ageIdentity
    : `${SIGNER_DIRECTORY}/age.key (which root can read)`;
}
