import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

export interface Org {
  id: string;
  name: string;
  slug: string;
  public_log: boolean;
  created_at: Date;
}

const COLUMNS = ["id", "name", "slug", "public_log", "created_at"] as const;

/** Null, and nothing written, where the slug is taken. */
export async function insertOrg(tx: DatabaseTransaction, org: Omit<Org, "public_log">): Promise<Org | null> {
  const row = await tx
    .insertInto("orgs")
    .values(org)
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function listOrgs(db: Database): Promise<Org[]> {
  return db.selectFrom("orgs").select(COLUMNS).orderBy("id").execute();
}

/** By id or by slug; an id has an underscore and a slug never does. */
export async function findOrg(db: Database, idOrSlug: string): Promise<Org | null> {
  const column = idOrSlug.includes("_") ? "id" : "slug";
  const row = await db.selectFrom("orgs").select(COLUMNS).where(column, "=", idOrSlug).executeTakeFirst();
  return row ?? null;
}
