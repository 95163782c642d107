import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Passkey {
  id: string;
  email: string;
  credential_id: Buffer;
  name: string;
  transports: string[];
  synced: boolean;
  created_at: Date;
  last_used_at: Date | null;
}

export interface NewPasskey extends Omit<Passkey, "created_at" | "last_used_at"> {
  public_key: Buffer;
  counter: number;
}

const COLUMNS = [
  "id",
  "email",
  "credential_id",
  "name",
  "transports",
  "synced",
  "created_at",
  "last_used_at",
] as const;

/** Oldest first. */
export async function listPasskeys(db: Database, email: string): Promise<Passkey[]> {
  return db
    .selectFrom("passkeys")
    .select(COLUMNS)
    .where("email", "=", email.toLowerCase())
    .orderBy("id")
    .execute();
}

/** Returns null and writes nothing if somebody has the credential already. */
export async function insertPasskey(tx: DatabaseTransaction, passkey: NewPasskey): Promise<Passkey | null> {
  const row = await tx
    .insertInto("passkeys")
    .values(passkey)
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

/** With its owner; null for an unknown credential. */
export async function findByCredential(
  db: Database,
  credentialId: Buffer,
): Promise<{ id: string; email: string; handle: Buffer; public_key: Buffer } | null> {
  const row = await db
    .selectFrom("passkeys")
    .innerJoin("passkey_owners", "passkey_owners.email", "passkeys.email")
    .select(["passkeys.id", "passkeys.email", "passkey_owners.handle", "passkeys.public_key"])
    .where("credential_id", "=", credentialId)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Records a use. False if the authenticator's counter has not grown: a passkey and a copy of it
 * can't both keep up. An authenticator that does not count reports 0 each time.
 */
export async function recordUse(db: Database, id: string, counter: number): Promise<boolean> {
  const used = await db
    .updateTable("passkeys")
    .set({ counter, last_used_at: sql<Date>`now()` })
    .where("id", "=", id)
    .where((passkey) =>
      passkey.or([
        passkey("counter", "<", counter),
        passkey.and([passkey("counter", "=", 0), passkey.val(counter === 0)]),
      ]),
    )
    .executeTakeFirst();
  return used.numUpdatedRows > 0n;
}

/** Null if the person has none with this id. */
export async function renamePasskey(
  tx: DatabaseTransaction,
  { id, email, name }: { id: string; email: string; name: string },
): Promise<Passkey | null> {
  const row = await tx
    .updateTable("passkeys")
    .set({ name })
    .where("id", "=", id)
    .where("email", "=", email.toLowerCase())
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

/** Null if the person has none with this id. */
export async function deletePasskey(
  tx: DatabaseTransaction,
  { id, email }: { id: string; email: string },
): Promise<Passkey | null> {
  const row = await tx
    .deleteFrom("passkeys")
    .where("id", "=", id)
    .where("email", "=", email.toLowerCase())
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}
