import { sql, type Insertable } from "kysely";
import type { AuditorLinksTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/route/pagination.ts";
import type { Period } from "../../platform/http/route/principal.ts";

export interface AuditorLink {
  id: string;
  org_id: string;
  name: string;
  period_from: Date;
  period_to: Date;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  openings: number;
  last_opened_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS = [
  "id",
  "org_id",
  "name",
  "period_from",
  "period_to",
  "created_by",
  "created_at",
  "expires_at",
  "openings",
  "last_opened_at",
  "revoked_at",
] as const;

export async function insertLink(
  tx: DatabaseTransaction,
  link: Insertable<AuditorLinksTable>,
): Promise<AuditorLink> {
  return tx.insertInto("auditor_links").values(link).returning(COLUMNS).executeTakeFirstOrThrow();
}

/**
 * Counts an opening; returns null if no link has the secret, or it is revoked or expired. One
 * statement, so if a link is opened and revoked at the same time, whichever comes second sees the
 * first.
 */
export async function takeOpening(
  tx: DatabaseTransaction,
  secretSha256: Buffer,
): Promise<AuditorLink | null> {
  const row = await tx
    .updateTable("auditor_links")
    .set((link) => ({ openings: link("openings", "+", 1), last_opened_at: sql<Date>`now()` }))
    .where("secret_sha256", "=", secretSha256)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function findLink(db: Database, id: string): Promise<AuditorLink | null> {
  const row = await db.selectFrom("auditor_links").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row ?? null;
}

/** Newest first, with one more than the page holds; includes links that are over. */
export async function listLinkPage(
  db: Database,
  orgId: string,
  { page, from, to }: { page: Page } & Period,
): Promise<AuditorLink[]> {
  let query = db.selectFrom("auditor_links").select(COLUMNS).where("org_id", "=", orgId);
  if (page.before !== null) query = query.where("id", "<", page.before);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

/** Null if it is revoked already, or is not the organisation's. */
export async function setLinkRevoked(
  tx: DatabaseTransaction,
  { orgId, id, at }: { orgId: string; id: string; at: Date },
): Promise<AuditorLink | null> {
  const row = await tx
    .updateTable("auditor_links")
    .set({ revoked_at: at })
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}
