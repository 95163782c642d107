import type { UserRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { presentUser } from "./present.ts";
import { findUser, findUserByEmail, type User } from "./store.ts";

/** Null for one that was removed, too. */
export async function userById(db: Database, id: string): Promise<User | null> {
  return findUser(db, id);
}

/** Users and operators alike, whatever the case of the address's letters. */
export async function userByEmail(db: Database, email: string): Promise<User | null> {
  return findUserByEmail(db, email.toLowerCase());
}

/** Null for one that was removed, too. */
export async function userRecord(db: Database, id: string): Promise<UserRecord | null> {
  const user = await findUser(db, id);
  return user === null ? null : presentUser(user);
}
