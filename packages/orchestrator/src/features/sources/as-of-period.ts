import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Period } from "../../platform/http/principal.ts";
import type { ConfiguredSource } from "./configured-source.ts";

/**
 * The sources with the times of a period: the last backup and last proof in it, and nothing about
 * what is due now. Without a period they stay as they are.
 */
export async function asOfPeriod(
  db: Database,
  sources: readonly ConfiguredSource[],
  { from, to }: Period,
): Promise<ConfiguredSource[]> {
  if ((from === null && to === null) || sources.length === 0) return [...sources];
  const ids = sources.map(({ id }) => id);
  const { rows } = await sql<{ id: string; last_backup_at: Date | null; last_proven_at: Date | null }>`
    select id,
      (select max(least(made_at, created_at)) from backups where source_id = id_of.id
        and made_at >= ${from ?? "-infinity"} and made_at < ${to ?? "infinity"}) as last_backup_at,
      (select max(happened_at) from receipts where source_id = id_of.id
        and kind = 'restore_test' and result = 'passed'
        and created_at >= ${from ?? "-infinity"} and created_at < ${to ?? "infinity"}) as last_proven_at
    from unnest(array[${sql.join(ids)}]::text[]) as id_of (id)`.execute(db);
  const clocks = new Map(rows.map((row) => [row.id, row]));
  return sources.map((source) => ({
    ...source,
    last_backup_at: clocks.get(source.id)?.last_backup_at ?? null,
    last_proven_at: clocks.get(source.id)?.last_proven_at ?? null,
    next_backup_at: null,
    next_restore_test_at: null,
  }));
}
