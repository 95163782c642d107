import { newId, type OrgRole } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/http/errors.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { queueMail } from "../../platform/mail/outbox.ts";
import { insertUser, type User } from "./store.ts";

const INVITE_OF_USE_S = 7 * 24 * 3600;

export interface InviteDeps {
  sealer: Sealer;
  /** Where people sign in. */
  publicUrl: string;
}

export interface Invitation {
  org: { id: string; name: string };
  email: string;
  role: OrgRole;
  name: string | null;
}

/** Makes a user, and mails how to sign in. Throws `already_exists` where the address has an account of this service. */
export async function inviteUser(
  tx: DatabaseTransaction,
  { sealer, publicUrl }: InviteDeps,
  { org, email, role, name }: Invitation,
): Promise<User> {
  const user = await addUser(tx, { orgId: org.id, email, role, name });
  await queueMail(
    tx,
    sealer,
    {
      to: email,
      subject: "You are invited to an organisation on Attestore",
      // Nothing in it is the inviter's to write: a stranger's mailbox is no place for their text.
      text: `You have been added to an organisation on Attestore as ${role}.

The organisation's id is ${org.id}. To see whose it is, sign in with this address:

    ${publicUrl}/login

You will be mailed a code to type there. There is no password.
If you expect no invitation, do nothing.
`,
    },
    new Date(Date.now() + INVITE_OF_USE_S * 1000),
  );
  return user;
}

/** Makes a user without a mail. Throws `already_exists`. */
export async function addUser(
  tx: DatabaseTransaction,
  user: { orgId: string; email: string; role: OrgRole; name: string | null },
): Promise<User> {
  const now = new Date();
  const { orgId: org_id, ...rest } = user;
  const added = await insertUser(tx, { id: newId("user", now.getTime()), org_id, created_at: now, ...rest });
  if (added === null)
    throw new ApiError("already_exists", "There is already an account of this service with that address.", {
      email: user.email,
    });
  return added;
}
