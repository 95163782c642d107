import { firstIdAt } from "@attestore/contract";
import { type NotProvenBecause, notProvenBecause, PROOF_AGE_S } from "@attestore/proof";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

export interface SourceProof {
  /** Null if the source is proven. */
  because: NotProvenBecause | null;
  /** When a restore test failed that nothing has cleared since; null if there is none. */
  failedAt: Date | null;
  /** When the restore test ran whose result came last, however late it came. */
  testedAt: Date | null;
}

/** What the receipts of a source say. */
interface Tests {
  id: string;
  passed_id: string | null;
  failed_at: Date | null;
  tested_at: Date | null;
}

/** What else is known of it. */
interface Facts {
  id: string;
  rpo_s: number | null;
  newest_id: string | null;
  passed_finished_at: Date | null;
  ever_passed: boolean;
}

/**
 * Rows of the source `asked` in the order of an index `(source_id, key)`, from one key up to
 * another. With `source_id = asked.id order by key limit 1`, PostgreSQL may walk through an index
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
  (${source}, ${column}) >= (asked.id, ${from}) and (${source}, ${column}) <= (asked.id, ${to})
  and ${source} >= asked.id and ${source} <= asked.id and ${column} >= ${from} and ${column} <= ${to}`;
};

/** Before every id, and after it. */
const [FIRST_ID, LAST_ID] = [sql`''::text`, sql`'~'::text`];

/**
 * A failure stands until a backup at least as new as any that ever failed passes, in a test that
 * ran later and whose receipt came later. SQL over the source `asked` and over everything recorded
 * until then; gives one row if a failure stands.
 */
function standingFailure(inOrg: RawBuilder<unknown>, until: Date | "infinity"): RawBuilder<unknown> {
  return sql`
    select last.happened_at as failed_at from (
      select created_at, happened_at from receipts
      where ${ofSource("receipts", "id", FIRST_ID, LAST_ID)} ${inOrg} and result = 'failed' and created_at <= ${until}
      order by source_id desc, id desc limit 1) as last
    where (select true from receipts
      where ${ofSource("receipts", "created_at", sql`last.created_at`, sql`${until}::timestamptz`)} ${inOrg}
        and kind = 'restore_test' and result = 'passed'
        and created_at > last.created_at and happened_at >= last.happened_at
        and backup_id >= (select backup_id from receipts
          where ${ofSource("receipts", "backup_id", FIRST_ID, LAST_ID)} ${inOrg} and result = 'failed'
          order by source_id desc, backup_id desc limit 1)
      order by source_id, created_at limit 1) is null`;
}

/**
 * What the receipts of these sources say. A statement of its own: an engine that spreads receipts
 * over machines by their organisation gives it to one machine, which has no other table.
 */
async function readTests(
  db: Database,
  { orgId, ids }: ProofsOf,
  since: Date,
  until: Date | "infinity",
): Promise<Map<string, Tests>> {
  const inOrg = orgId === null ? sql`` : sql`and receipts.org_id = ${orgId}`;
  // With `-infinity` as a constant, PostgreSQL would expect more rows of this index than there are
  // of the organisation, by some statistics, and read all of both.
  const { rows } = await sql<Tests>`
    select asked.id, passed.backup_id as passed_id, failing.failed_at, newest.happened_at as tested_at
    from unnest(${[...ids]}::text[], ${ids.map(() => "-infinity")}::timestamptz[]) as asked (id, since)
    left join lateral (select max(backup_id) as backup_id from (
      select backup_id from receipts
      where ${ofSource("receipts", "id", sql`${firstIdAt("receipt", since.getTime())}`, LAST_ID)} ${inOrg}
        and kind = 'restore_test' and result = 'passed' and happened_at >= ${since} and created_at <= ${until}
      order by source_id, id offset 0) as recent) as passed on true
    left join lateral (${standingFailure(inOrg, until)}) as failing on true
    left join lateral (select happened_at from receipts
      where ${ofSource("receipts", "created_at", sql`asked.since`, sql`${until}::timestamptz`)} ${inOrg}
        and kind = 'restore_test'
      order by source_id desc, created_at desc limit 1) as newest on true`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

export interface ProofsOf {
  /** Whose sources they are; null if they are of several organisations. */
  orgId: string | null;
  ids: readonly string[];
}

/**
 * Whether each of these sources is proven at that moment, by the rule of packages/proof and by the
 * records. Ids of backups are in the order in which the service received them, so no host decides
 * which one is newest.
 */
export async function readProofs(
  db: Database,
  of: ProofsOf,
  at: Date,
  /**
   * Without it everything recorded counts: the database's clock may be a little ahead of this
   * process's.
   */
  until: Date | "infinity" = "infinity",
): Promise<Map<string, SourceProof>> {
  if (of.ids.length === 0) return new Map();
  const since = new Date(at.getTime() - PROOF_AGE_S * 1000);
  const tests = await readTests(db, of, since, until);
  const passedIds = of.ids.map((id) => tests.get(id)?.passed_id ?? null);
  const { rows } = await sql<Facts>`
    select sources.id, (objectives ->> 'rpo_s')::int as rpo_s, newest.id as newest_id,
      passed.finished_at as passed_finished_at,
      coalesce(asked.passed_id is not null or last_proven_at <= ${until}, false) as ever_passed
    from sources join unnest(${[...of.ids]}::text[], ${passedIds}::text[]) as asked (id, passed_id) on asked.id = sources.id
    left join lateral (select id from backups
      where ${ofSource("backups", "id", FIRST_ID, LAST_ID)} and created_at <= ${until}
      order by source_id desc, id desc limit 1) as newest on true
    left join lateral (select least(made_at, created_at) as finished_at from backups
      where id = asked.passed_id limit 1) as passed on true
    where sources.id = any(${[...of.ids]})`.execute(db);
  return new Map(
    rows.map(({ id, rpo_s, newest_id, passed_finished_at, ever_passed }) => {
      const { passed_id, failed_at, tested_at } = tests.get(id) ?? NO_TESTS;
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
      return [
        id,
        { because: notProvenBecause(facts, at.getTime()), failedAt: failed_at, testedAt: tested_at },
      ];
    }),
  );
}

const NO_TESTS = { passed_id: null, failed_at: null, tested_at: null };
