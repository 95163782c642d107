import { firstIdAt } from "@attestore/contract";
import { type NotProvenBecause, notProvenBecause, PROOF_AGE_S } from "@attestore/proof";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

export interface SourceProof {
  /** Null if the source is proven. */
  because: NotProvenBecause | null;
  /** When a restore test failed that nothing has cleared since; null if there is none. */
  failedAt: Date | null;
}

interface Facts {
  id: string;
  rpo_s: number | null;
  newest_id: string | null;
  passed_id: string | null;
  passed_finished_at: Date | null;
  ever_passed: boolean;
  failed_at: Date | null;
}

/**
 * Rows of the row of `sources` in the order of an index `(source_id, key)`, from one key up to
 * another. With `source_id = sources.id order by key limit 1`, PostgreSQL may walk through an index
 * of the key alone, or all of the organisation, and expect a row of the source soon: for a source
 * without any, it reads the whole table. A comparison of both columns is served only by an index
 * that begins with the source, whatever the statistics say. PostgreSQL takes such a comparison for
 * one of the first column alone. Each column once more by itself has it expect few rows of this
 * index, and fewer than of one that has only the source in common.
 */
const ofSource = (
  table: "backups" | "receipts",
  key: string,
  from: RawBuilder<unknown>,
  to: RawBuilder<unknown>,
): RawBuilder<boolean> => {
  const [source, column] = [sql.ref(`${table}.source_id`), sql.ref(`${table}.${key}`)];
  return sql<boolean>`
  (${source}, ${column}) >= (sources.id, ${from}) and (${source}, ${column}) <= (sources.id, ${to})
  and ${source} >= sources.id and ${source} <= sources.id and ${column} >= ${from} and ${column} <= ${to}`;
};

/** Before every id, and after it. */
const [FIRST_ID, LAST_ID] = [sql`''::text`, sql`'~'::text`];

/**
 * A failure stands until a backup at least as new as any that ever failed passes, in a test that
 * ran later and whose receipt came later. SQL over a row of `sources` and over everything recorded
 * until then; gives one row if a failure stands.
 */
function standingFailure(until: Date | "infinity"): RawBuilder<unknown> {
  return sql`
    select last.happened_at as failed_at from (
      select created_at, happened_at from receipts
      where ${ofSource("receipts", "id", FIRST_ID, LAST_ID)} and result = 'failed' and created_at <= ${until}
      order by source_id desc, id desc limit 1) as last
    where (select true from receipts
      where ${ofSource("receipts", "created_at", sql`last.created_at`, sql`${until}::timestamptz`)}
        and kind = 'restore_test' and result = 'passed'
        and created_at > last.created_at and happened_at >= last.happened_at
        and backup_id >= (select backup_id from receipts
          where ${ofSource("receipts", "backup_id", FIRST_ID, LAST_ID)} and result = 'failed'
          order by source_id desc, backup_id desc limit 1)
      order by source_id, created_at limit 1) is null`;
}

/**
 * Whether each of these sources is proven at that moment, by the rule of packages/proof and by the
 * records. Ids of backups are in the order in which the service received them, so no host decides
 * which one is newest.
 */
export async function readProofs(
  db: Database,
  sourceIds: readonly string[],
  at: Date,
  /**
   * Without it everything recorded counts: the database's clock may be a little ahead of this
   * process's.
   */
  until: Date | "infinity" = "infinity",
): Promise<Map<string, SourceProof>> {
  if (sourceIds.length === 0) return new Map();
  const since = new Date(at.getTime() - PROOF_AGE_S * 1000);
  const { rows } = await sql<Facts>`
    select sources.id, (objectives ->> 'rpo_s')::int as rpo_s, newest.id as newest_id, passed.backup_id as passed_id,
      least(backups.made_at, backups.created_at) as passed_finished_at,
      coalesce(passed.backup_id is not null or last_proven_at <= ${until}, false) as ever_passed, failing.failed_at
    from sources
    left join lateral (select id from backups
      where ${ofSource("backups", "id", FIRST_ID, LAST_ID)} and created_at <= ${until}
      order by source_id desc, id desc limit 1) as newest on true
    left join lateral (select max(backup_id) as backup_id from (
      select backup_id from receipts
      where ${ofSource("receipts", "id", sql`${firstIdAt("receipt", since.getTime())}`, LAST_ID)} and kind = 'restore_test'
        and result = 'passed' and happened_at >= ${since} and created_at <= ${until}
      order by source_id, id offset 0) as recent) as passed on true
    left join backups on backups.id = passed.backup_id
    left join lateral (${standingFailure(until)}) as failing on true
    where sources.id = any(${[...sourceIds]})`.execute(db);
  return new Map(
    rows.map(({ id, rpo_s, newest_id, passed_id, passed_finished_at, ever_passed, failed_at }) => {
      const passed =
        passed_id === null || passed_finished_at === null
          ? null
          : { isNewest: passed_id === newest_id, finishedAt: passed_finished_at.getTime() };
      const facts = {
        hasBackup: newest_id !== null,
        everPassed: ever_passed,
        passed,
        failed: failed_at !== null,
        rpo_s: rpo_s ?? undefined,
      };
      return [id, { because: notProvenBecause(facts, at.getTime()), failedAt: failed_at }];
    }),
  );
}
