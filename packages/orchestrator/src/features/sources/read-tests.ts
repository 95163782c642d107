import { firstIdAt } from "@attestore/contract";
import { PROOF_AGE_S } from "@attestore/proof";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

/*
 * Statements over receipts alone. An engine that spreads receipts over machines by their
 * organisation joins no other table with them.
 */

/** What the receipts of a source say. */
export interface Tests {
  id: string;
  passed_id: string | null;
  failed_at: Date | null;
  tested_at: Date | null;
}

/**
 * Rows of a source, by default of `asked`, in the order of an index `(source_id, key)`, from one
 * key up to another. With `source_id = asked.id order by key limit 1`, PostgreSQL may walk through
 * an index of the key alone, or all of the organisation, and expect a row of the source soon: for a
 * source without any, it reads the whole table. A comparison of both columns is served only by an
 * index that begins with the source, whatever the statistics say. PostgreSQL takes such a
 * comparison for one of the first column alone. Each column once more by itself has it expect few
 * rows of this index, and fewer than of one that has only the source in common.
 */
export const ofSource = (
  table: "backups" | "receipts",
  key: string,
  from: RawBuilder<unknown>,
  to: RawBuilder<unknown>,
  id = sql`asked.id`,
): RawBuilder<boolean> => {
  const [source, column] = [sql.ref(`${table}.source_id`), sql.ref(`${table}.${key}`)];
  return sql<boolean>`
  (${source}, ${column}) >= (${id}, ${from}) and (${source}, ${column}) <= (${id}, ${to})
  and ${source} >= ${id} and ${source} <= ${id} and ${column} >= ${from} and ${column} <= ${to}`;
};

/** Before every id, and after it. */
export const [FIRST_ID, LAST_ID] = [sql`''::text`, sql`'~'::text`];

/** A record's id is made by another clock than its `created_at`, a little before or after it. */
export const CLOCKS_DIFFER_MS = 3_600_000;

/**
 * An id after those of all records until then. Without it, what is asked of long ago would be
 * looked for among all that came since.
 */
export const lastIdOf = (kind: "backup" | "receipt", until: Date | "infinity"): RawBuilder<unknown> =>
  until === "infinity" ? LAST_ID : sql`${firstIdAt(kind, until.getTime() + CLOCKS_DIFFER_MS)}`;

/**
 * A failure stands until a backup at least as new as any that ever failed passes, in a test that
 * ran later and whose receipt came later. SQL over the source `asked` of this organisation and over
 * everything recorded until then; gives one row if a failure stands.
 */
function standingFailure(org: RawBuilder<unknown>, until: Date | "infinity"): RawBuilder<unknown> {
  const inOrg = sql`and receipts.org_id = ${org}`;
  const [lastReceipt, lastBackup] = [lastIdOf("receipt", until), lastIdOf("backup", until)];
  return sql`
    select last.happened_at as failed_at from (
      select created_at, happened_at from receipts
      where ${ofSource("receipts", "id", FIRST_ID, lastReceipt)} ${inOrg} and result = 'failed' and created_at <= ${until}
      order by source_id desc, id desc limit 1) as last
    where (select true from receipts
      where ${ofSource("receipts", "created_at", sql`last.created_at`, sql`${until}::timestamptz`)} ${inOrg}
        and kind = 'restore_test' and result = 'passed'
        and created_at > last.created_at and happened_at >= last.happened_at
        and backup_id >= (select backup_id from receipts
          where ${ofSource("receipts", "backup_id", FIRST_ID, lastBackup)} ${inOrg} and result = 'failed'
            and created_at <= ${until}
          order by source_id desc, backup_id desc limit 1)
      order by source_id, created_at limit 1) is null`;
}

/** Receipts of the tests of the source `id` that passed since then. */
const passedSince = (since: Date, until: Date | "infinity", id?: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`${ofSource("receipts", "id", sql`${firstIdAt("receipt", since.getTime())}`, lastIdOf("receipt", until), id)}
    and kind = 'restore_test' and result = 'passed' and happened_at >= ${since} and created_at <= ${until}`;

const proofAgeBefore = (at: Date): Date => new Date(at.getTime() - PROOF_AGE_S * 1000);

/** Of the newest backups that passed, the first one or none usually did so lately. */
const NEWEST_PASSED = 3;

/**
 * SQL for the newest backup of the source `asked` that passed since then, or null. A source may be
 * tested many times a day, so this looks at the newest backups first, and reads all tests of the
 * days only where none of these passed lately.
 */
function newestPassed(orgId: string, since: Date, until: Date | "infinity"): RawBuilder<unknown> {
  const inOrg = sql`and receipts.org_id = ${orgId}`;
  return sql`coalesce(
    (select backup_id from (
      select source_id, backup_id, created_at, id, happened_at from receipts
      where ${ofSource("receipts", "backup_id", FIRST_ID, lastIdOf("backup", until))} ${inOrg}
        and created_at >= asked.since and created_at <= asked.until and kind = 'restore_test' and result = 'passed'
      order by source_id desc, backup_id desc, created_at desc limit ${sql.lit(NEWEST_PASSED)}) as newest
    where id >= ${firstIdAt("receipt", since.getTime())} and happened_at >= ${since}
    order by source_id desc, backup_id desc, created_at desc limit 1),
    (select max(backup_id) from (
      select backup_id from receipts where ${passedSince(since, until)} ${inOrg}
      order by source_id, id offset 0) as recent))`;
}

export interface SourcesOf {
  orgId: string;
  ids: readonly string[];
}

/** What the receipts of these sources say. */
export async function readTests(
  db: Database,
  { orgId, ids }: SourcesOf,
  at: Date,
  until: Date | "infinity",
): Promise<Map<string, Tests>> {
  // With `-infinity` and `infinity` as constants, PostgreSQL would expect more rows of an index
  // than there are of the organisation, by some statistics, and read all of both.
  const { rows } = await sql<Tests>`
    select asked.id, ${newestPassed(orgId, proofAgeBefore(at), until)} as passed_id, failing.failed_at,
      newest.happened_at as tested_at
    from unnest(${[...ids]}::text[], ${ids.map(() => "-infinity")}::timestamptz[], ${ids.map(() => until)}::timestamptz[])
      as asked (id, since, until)
    left join lateral (${standingFailure(sql`${orgId}`, until)}) as failing on true
    left join lateral (select happened_at from receipts
      where ${ofSource("receipts", "created_at", sql`asked.since`, sql`${until}::timestamptz`)}
        and receipts.org_id = ${orgId} and kind = 'restore_test'
      order by source_id desc, created_at desc limit 1) as newest on true`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * The newest backup that passed of each of these sources that has one, and of which no failure
 * stands, whatever their organisations. Each part names the organisation, so that an engine that
 * spreads receipts by it can have each machine answer of those that it has.
 */
export async function readStandingPasses(
  db: Database,
  ids: readonly string[],
  at: Date,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; passed_id: string }>`
    select asked.id, asked.passed_id
    from unnest(${[...ids]}::text[]) as wanted (id)
    cross join lateral (
      select recent.org_id, recent.source_id as id, max(recent.backup_id) as passed_id from (
        select org_id, source_id, backup_id from receipts where ${passedSince(proofAgeBefore(at), "infinity", sql`wanted.id`)}
        order by source_id, id) as recent
      group by recent.org_id, recent.source_id) as asked
    left join lateral (${standingFailure(sql`asked.org_id`, "infinity")}) as failing on true
    where failing.failed_at is null`.execute(db);
  return new Map(rows.map((row) => [row.id, row.passed_id]));
}
