import { ensureAgeIdentity } from "../root/age-identity.ts";
import { normalRecipient, recipientFrom } from "../keys/recipient.ts";
import type { Config } from "../root/config.ts";
import type { Layout } from "../root/layout.ts";
import { UserError } from "../root/user-error.ts";
import type { Call } from "./command.ts";

/** Whom a new root encrypts to: those that were named, those of its config.yaml, or a key pair of its own. */
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
      throw new UserError("usage", `"${wrong}" is no age recipient (age1…) and no SSH public key`);
    return { recipients: given.map(normalRecipient), identityFiles: [] };
  }
  if (before !== null && before.recipients.length > 0)
    return { recipients: before.recipients, identityFiles: before.identityFiles };
  return { recipients: [await ensureAgeIdentity(layout.ageIdentity)], identityFiles: ["keys/age.key"] };
}
