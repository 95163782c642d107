import { isId, newId } from "@attestore/contract";
import { sql } from "kysely";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import type { Database, DatabaseTransaction, SourceLabels } from "../../platform/database/schema.ts";

export interface Source {
  id: string;
  org_id: string;
  slug: string;
  engine: string;
  agent_id: string;
  test_agent_id: string | null;
}

const COLUMNS = ["id", "org_id", "slug", "engine", "agent_id", "test_agent_id"] as const;

/** A source as its agent declared it last. */
export interface DeclaredBefore extends Source {
  labels: SourceLabels;
}

/** Null for a removed one too. */
export async function findSource(db: Database, orgId: string, id: string): Promise<Source | null> {
  const row = await db
    .selectFrom("sources")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** By id, or by slug in an organisation; text in the form of an id is never looked up as a slug. */
export async function findSourceByName(
  db: Database,
  orgId: string | null,
  idOrSlug: string,
): Promise<Source | null> {
  let query = db
    .selectFrom("sources")
    .select(COLUMNS)
    .where(isId("source", idOrSlug) ? "id" : "slug", "=", idOrSlug)
    .where("removed_at", "is", null);
  if (orgId !== null) query = query.where("org_id", "=", orgId);
  const [row, another] = await query.limit(2).execute();
  return another === undefined ? (row ?? null) : null;
}

const NAMED: PreparedQuery = {
  name: "sources_named",
  text: `select ${COLUMNS.join()}, labels from sources where org_id = $1 and slug = any($2::text[]) and removed_at is null order by id`,
};

export async function listSourcesNamed(
  tx: DatabaseTransaction,
  orgId: string,
  slugs: readonly string[],
): Promise<DeclaredBefore[]> {
  return runPrepared<DeclaredBefore>(tx, NAMED, [orgId, slugs]);
}

/** Who makes its backups and who tests them, also for a removed source. Null if there is none. */
export async function findSourceAgents(db: Database, id: string): Promise<string[] | null> {
  const row = await db
    .selectFrom("sources")
    .select(["agent_id", "test_agent_id"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return null;
  return row.test_agent_id === null ? [row.agent_id] : [row.agent_id, row.test_agent_id];
}

export interface SourceDeclaration {
  slug: string;
  engine: string;
  name: string;
  labels: SourceLabels;
}

/**
 * Registers those that the organisation does not have and that this agent did not have when they
 * were removed. If two agents declare a slug at once, one gets it.
 */
export async function insertDeclared(
  tx: DatabaseTransaction,
  owner: { orgId: string; agentId: string },
  declared: readonly SourceDeclaration[],
): Promise<void> {
  const rows = declared.map((source) => ({ id: newId("source"), ...source }));
  await sql`
    insert into sources (id, org_id, slug, name, engine, agent_id, labels)
    select id, ${owner.orgId}, slug, name, engine, ${owner.agentId}, labels
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as declared (id text, slug text, name text, engine text, labels jsonb)
    where not exists (
      select from sources as removed
      where removed.org_id = ${owner.orgId} and removed.slug = declared.slug and removed.agent_id = ${owner.agentId}
    )
    on conflict (org_id, slug) where removed_at is null do nothing`.execute(tx);
}

/** How the host that makes the backups describes its source. */
export async function setDeclared(
  tx: DatabaseTransaction,
  id: string,
  { engine, labels }: Pick<SourceDeclaration, "engine" | "labels">,
): Promise<void> {
  await tx
    .updateTable("sources")
    .set({ engine, labels: JSON.stringify(labels) })
    .where("id", "=", id)
    .execute();
}

/**
 * Backups may be registered out of order: the newest counts. None was made later than now, whatever
 * an agent's clock says.
 */
export async function setLastBackup(tx: DatabaseTransaction, id: string, madeAt: Date): Promise<void> {
  await tx
    .updateTable("sources")
    .set({ last_backup_at: sql<Date>`greatest(last_backup_at, least(${madeAt}, now()))` })
    .where("id", "=", id)
    .execute();
}
