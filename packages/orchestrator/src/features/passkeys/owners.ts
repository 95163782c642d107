import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

/**
 * Passkeys belong to a person, who is identified by the address that they proved, in lower case.
 */
export interface Owner {
  email: string;
  /** Their authenticators know them by this id. */
  handle: Buffer;
}

/**
 * The person's record, created if there is none, and locked, so changes of their passkeys run one
 * after the other.
 */
export async function lockOwner(tx: DatabaseTransaction, email: string): Promise<Owner> {
  const lower = email.toLowerCase();
  await tx
    .insertInto("passkey_owners")
    .values({ email: lower, handle: randomBytes(32) })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .execute();
  return tx
    .selectFrom("passkey_owners")
    .select(["email", "handle"])
    .where("email", "=", lower)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Whether a mailed code alone does not sign them in. */
export async function hasPasskey(db: Database, email: string): Promise<boolean> {
  const row = await db
    .selectFrom("passkeys")
    .select("id")
    .where("email", "=", email.toLowerCase())
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Forgets the passkeys and recovery codes of somebody who no longer belongs to any organisation and
 * is not an operator. The address may be given to another person, whom these would lock out or let
 * in.
 */
export async function forgetFormerPasskeys(tx: DatabaseTransaction, email: string): Promise<void> {
  const lower = email.toLowerCase();
  await tx
    .deleteFrom("passkey_owners")
    .where("email", "=", lower)
    .where(
      sql<boolean>`not exists (
        select from users where lower(email) = ${lower} and status = 'active' and removed_at is null)`,
    )
    .execute();
}

/** Removes all passkeys and recovery codes. Returns how many passkeys there were. */
export async function forgetPasskeys(tx: DatabaseTransaction, email: string): Promise<number> {
  const lower = email.toLowerCase();
  const gone = await tx.deleteFrom("passkeys").where("email", "=", lower).executeTakeFirst();
  await tx.deleteFrom("passkey_owners").where("email", "=", lower).execute();
  return Number(gone.numDeletedRows);
}
