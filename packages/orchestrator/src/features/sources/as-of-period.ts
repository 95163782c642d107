import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Period } from "../../platform/http/route/principal.ts";
import type { ConfiguredSource } from "./configured-source.ts";

/**
 * The sources with the times of a period: the last backup and last proof in it, and nothing about
 * what is due now. Without a period they stay as they are.
 */
export async function asOfPeriod(
  db: Database,
  orgId: string,
  sources: readonly ConfiguredSource[],
  { from, to }: Period,
): Promise<ConfiguredSource[]> {
  if ((from === null && to === null) || sources.length === 0) return [...sources];
  const ids = sources.map(({ id }) => id);
  const { rows: made } = await sql<{ id: string; at: Date | null }>`
    select id, (select max(least(made_at, created_at)) from backups where source_id = id_of.id
      and made_at >= ${from ?? "-infinity"} and made_at < ${to ?? "infinity"}) as at
    from unnest(${ids}::text[]) as id_of (id)`.execute(db);
  // By itself: an engine that spreads receipts over machines joins no other table with them.
  const { rows: proven } = await sql<{ id: string; at: Date | null }>`
    select id, (select max(happened_at) from receipts where org_id = ${orgId} and source_id = id_of.id
      and kind = 'restore_test' and result = 'passed'
      and created_at >= ${from ?? "-infinity"} and created_at < ${to ?? "infinity"}) as at
    from unnest(${ids}::text[]) as id_of (id)`.execute(db);
  const madeAt = new Map(made.map(({ id, at }) => [id, at]));
  const provenAt = new Map(proven.map(({ id, at }) => [id, at]));
  return sources.map((source) => ({
    ...source,
    last_backup_at: madeAt.get(source.id) ?? null,
    last_proven_at: provenAt.get(source.id) ?? null,
    next_backup_at: null,
    next_restore_test_at: null,
  }));
}
