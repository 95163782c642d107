import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";

export interface Org {
  id: string;
  name: string;
  slug: string;
  public_log: boolean;
  created_at: Date;
}

const COLUMNS = ["id", "name", "slug", "public_log", "created_at"] as const;

/** Returns null and writes nothing if the slug is taken. */
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

/** By id or slug; an id contains an underscore, a slug never does. */
export async function findOrg(db: Database, idOrSlug: string): Promise<Org | null> {
  const column = idOrSlug.includes("_") ? "id" : "slug";
  const row = await db.selectFrom("orgs").select(COLUMNS).where(column, "=", idOrSlug).executeTakeFirst();
  return row ?? null;
}

/**
 * The organisations that somebody may see, all or these: newest first, with one more than the page
 * holds.
 */
export async function listOrgPage(
  db: Database,
  {
    only,
    page,
    from,
    to,
  }: { only: readonly string[] | null; page: Page; from: Date | null; to: Date | null },
): Promise<Org[]> {
  let query = db.selectFrom("orgs").select(COLUMNS);
  if (only !== null) query = query.where("id", "in", only);
  if (page.before !== null) query = query.where("id", "<", page.before);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export async function updateOrg(
  tx: DatabaseTransaction,
  id: string,
  change: { name?: string; public_log?: boolean },
): Promise<Org> {
  return tx.updateTable("orgs").set(change).where("id", "=", id).returning(COLUMNS).executeTakeFirstOrThrow();
}

/** Locks the row until the transaction ends; foreign keys to it don't have to wait. */
export async function lockOrgRow(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.selectFrom("orgs").select("id").where("id", "=", id).forNoKeyUpdate().execute();
}
