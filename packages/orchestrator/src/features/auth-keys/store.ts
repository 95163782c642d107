import { MAX_WRONG_ATTEMPTS } from "@attestore/contract";
import { sql, type Insertable } from "kysely";
import type { AuthKeysTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";

export interface AuthKey {
  id: string;
  org_id: string;
  name: string | null;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  last_used_at: Date | null;
  max_uses: number | null;
  uses: number;
  wrong_attempts: number;
  revoked_at: Date | null;
}

const COLUMNS = [
  "id",
  "org_id",
  "name",
  "created_by",
  "created_at",
  "expires_at",
  "last_used_at",
  "max_uses",
  "uses",
  "wrong_attempts",
  "revoked_at",
] as const;

export async function insertAuthKey(
  tx: DatabaseTransaction,
  key: Insertable<AuthKeysTable>,
): Promise<AuthKey> {
  return tx.insertInto("auth_keys").values(key).returning(COLUMNS).executeTakeFirstOrThrow();
}

/**
 * Takes one use of a key; takes none if it is used up, revoked, burned or expired by now. Condition
 * and count are one statement, so however many come at once, no more than `max_uses` succeed.
 */
export async function takeUse(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const row = await tx
    .updateTable("auth_keys")
    .set((key) => ({ uses: key("uses", "+", 1), last_used_at: sql<Date>`now()` }))
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .where("wrong_attempts", "<", MAX_WRONG_ATTEMPTS)
    .where("expires_at", ">", sql<Date>`now()`)
    .where((key) => key.or([key("max_uses", "is", null), key("uses", "<", key.ref("max_uses"))]))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function isBurned(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom("auth_keys")
    .select("wrong_attempts")
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined && row.wrong_attempts >= MAX_WRONG_ATTEMPTS;
}

/** Keys that still let agents in. */
export async function listActiveKeys(db: Database, orgId: string): Promise<AuthKey[]> {
  return activeKeys(db, orgId).orderBy("id").execute();
}

/** The same, newest first, with one more than the page holds. */
export async function listActiveKeyPage(
  db: Database,
  orgId: string,
  { page, from, to }: { page: Page; from: Date | null; to: Date | null },
): Promise<AuthKey[]> {
  let query = activeKeys(db, orgId);
  if (page.before !== null) query = query.where("id", "<", page.before);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

function activeKeys(db: Database, orgId: string) {
  return db
    .selectFrom("auth_keys")
    .select(COLUMNS)
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .where("wrong_attempts", "<", MAX_WRONG_ATTEMPTS)
    .where("expires_at", ">", sql<Date>`now()`)
    .where((key) => key.or([key("max_uses", "is", null), key("uses", "<", key.ref("max_uses"))]));
}

export async function keyIsOf(db: Database, orgId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom("auth_keys")
    .select("id")
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function listAllKeys(db: Database, orgId: string): Promise<AuthKey[]> {
  return db.selectFrom("auth_keys").select(COLUMNS).where("org_id", "=", orgId).orderBy("id").execute();
}

/** Null if there is no such key, or it is revoked already. */
export async function setKeyRevoked(tx: DatabaseTransaction, id: string, at: Date): Promise<AuthKey | null> {
  const row = await tx
    .updateTable("auth_keys")
    .set({ revoked_at: at })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function keyExists(db: Database, id: string): Promise<boolean> {
  const row = await db.selectFrom("auth_keys").select("id").where("id", "=", id).executeTakeFirst();
  return row !== undefined;
}
