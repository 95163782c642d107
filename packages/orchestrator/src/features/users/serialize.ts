import { INVITATION_S, type UserRecord } from "@attestore/contract";
import type { User } from "./store.ts";

/** A user as the API returns it. */
export function serializeUser(user: User): UserRecord {
  return {
    id: user.id,
    created_at: user.created_at.toISOString(),
    ...(user.org_id === null ? {} : { org_id: user.org_id }),
    email: user.email,
    ...(user.name === null ? {} : { name: user.name }),
    role: user.role,
    status: user.status,
    ...(user.status === "pending"
      ? { invitation_expires_at: invitationEnd(user.created_at).toISOString() }
      : {}),
  };
}

export function invitationEnd(invitedAt: Date): Date {
  return new Date(invitedAt.getTime() + INVITATION_S * 1000);
}
