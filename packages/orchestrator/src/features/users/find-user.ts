import type { UserRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { serializeUser } from "./serialize.ts";
import { findMembership, findUser, listByEmail, type User } from "./store.ts";

/** Null for a removed one too. */
export async function userById(db: Database, id: string): Promise<User | null> {
  return findUser(db, id);
}

/**
 * All memberships of somebody with this address, in any case. The one that a sign-in uses comes
 * first, pending invitations come last.
 */
export async function accountsOf(db: Database, email: string): Promise<User[]> {
  return listByEmail(db, email.toLowerCase());
}

/** Somebody's membership of an organisation. Null for a pending invitation too. */
export async function memberByEmail(db: Database, orgId: string, email: string): Promise<User | null> {
  return findMembership(db, orgId, email.toLowerCase());
}

/** Null for a removed one too. */
export async function userRecord(db: Database, id: string): Promise<UserRecord | null> {
  const user = await findUser(db, id);
  return user === null ? null : serializeUser(user);
}
