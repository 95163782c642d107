import { INVITATION_S, newId, type OrgRole } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { queueMail } from "../../platform/mail/outbox.ts";
import { insertUser, removeExpiredInvitation, type User } from "./store.ts";

export interface InviteDeps {
  sealer: Sealer;
  /** Where people sign in. */
  publicUrl: string;
}

export interface Invitation {
  org: { id: string };
  email: string;
  role: OrgRole;
  name: string | null;
}

/**
 * Creates a membership that grants nothing until the person accepts it, and mails how to accept.
 * Neither the answer nor the mail shows whether the address has an account on this service. Throws
 * `already_exists` if the organisation has a member or an invitation with it.
 */
export async function inviteUser(
  tx: DatabaseTransaction,
  { sealer, publicUrl }: InviteDeps,
  { org, email, role, name }: Invitation,
): Promise<User> {
  const user = await addUser(tx, { orgId: org.id, email, role, name, status: "pending" });
  await queueMail(
    tx,
    sealer,
    {
      to: email,
      subject: "You are invited to an organisation on Attestore",
      // The inviter can write nothing in it: a stranger's mailbox is not a place for their text.
      text: `You are invited to an organisation on Attestore as ${role}.

The organisation's id is ${org.id}. To accept, sign in with this address:

    ${publicUrl}/login

We then mail you a code to enter there. There is no password.
If you already belong to another organisation, you are asked first and can decline.
If you did not expect an invitation, ignore this mail. The invitation expires in 7 days.
`,
    },
    new Date(Date.now() + INVITATION_S * 1000),
  );
  return user;
}

/** Creates a membership without a mail. Throws `already_exists`. */
export async function addUser(
  tx: DatabaseTransaction,
  user: { orgId: string; email: string; role: OrgRole; name: string | null; status: User["status"] },
): Promise<User> {
  const now = new Date();
  const { orgId: org_id, ...rest } = user;
  await removeExpiredInvitation(tx, org_id, user.email);
  const added = await insertUser(tx, { id: newId("user", now.getTime()), org_id, created_at: now, ...rest });
  if (added === null)
    throw new ApiError(
      "already_exists",
      "The organisation already has a member or a pending invitation with that address.",
      {
        email: user.email,
      },
    );
  return added;
}
