import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Period } from "../../platform/http/route/principal.ts";
import type { ConfiguredSource } from "./configured-source.ts";
import { CLOCKS_DIFFER_MS, ofSource, type SourcesOf } from "./read-tests.ts";

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
  const of = { orgId, ids: sources.map(({ id }) => id) };
  const madeAt = await readMadeAt(db, of, { from, to });
  const provenAt = await readProvenAt(db, of, { from, to });
  return sources.map((source) => ({
    ...source,
    last_backup_at: madeAt.get(source.id) ?? null,
    last_proven_at: provenAt.get(source.id) ?? null,
    next_backup_at: null,
    next_restore_test_at: null,
  }));
}

/** A backup that is registered later after it was made is `registered_late`. */
const REGISTERED_WITHIN_MS = 3_600_000;

interface SourceTime {
  id: string;
  at: Date;
}

const mapOf = (rows: readonly SourceTime[]): Map<string, Date> => new Map(rows.map(({ id, at }) => [id, at]));

/** SQL for the sources, each with the bounds within which its records are looked for. */
const askedOf = (ids: readonly string[], from: Date | null, to: Date | null) => sql`
  unnest(${[...ids]}::text[], ${ids.map(() => from ?? "-infinity")}::timestamptz[],
    ${ids.map(() => to ?? "infinity")}::timestamptz[]) as asked (id, since, until)`;

/*
 * No run ended after it was recorded. So the record that came last leaves only those in question
 * that were recorded after its own run had ended, and the rest of the period is not read.
 */

/** When the last of each source's backups that were made in the period was made. */
async function readMadeAt(db: Database, { orgId, ids }: SourcesOf, { from, to }: Period) {
  const made = sql`made_at >= ${from ?? "-infinity"} and made_at < ${to ?? "infinity"}`;
  const asked = askedOf(ids, movedBy(from, -CLOCKS_DIFFER_MS), movedBy(to, REGISTERED_WITHIN_MS));
  const { rows } = await sql<SourceTime>`
    select asked.id, latest.at from ${asked}
    cross join lateral (select least(made_at, created_at) as at from backups
      where ${ofSource("backups", "created_at", sql`asked.since`, sql`asked.until`)} and ${made}
      order by source_id desc, created_at desc limit 1) as newest
    cross join lateral (select max(recent.at) as at from (select least(made_at, created_at) as at from backups
      where ${ofSource("backups", "created_at", sql`newest.at`, sql`asked.until`)} and ${made}
      order by source_id, created_at offset 0) as recent) as latest`.execute(db);
  const times = mapOf(rows);
  if (to === null) return times;
  const { rows: late } = await sql<SourceTime>`
    select source_id as id, max(least(made_at, created_at)) as at from backups
    where org_id = ${orgId} and source_id = any(${[...ids]}) and registered_late and ${made}
      and id >= ${firstIdAt("backup", to.getTime())}
    group by source_id`.execute(db);
  for (const { id, at } of late) {
    const onTime = times.get(id);
    if (onTime === undefined || at > onTime) times.set(id, at);
  }
  return times;
}

/** When the last of each source's tests that passed ended, of those recorded in the period. */
async function readProvenAt(db: Database, { orgId, ids }: SourcesOf, { from, to }: Period) {
  const passed = sql`receipts.org_id = ${orgId} and kind = 'restore_test' and result = 'passed' and created_at < asked.until`;
  // By itself: an engine that spreads receipts over machines joins no other table with them.
  const { rows } = await sql<SourceTime>`
    select asked.id, latest.at from ${askedOf(ids, from, to)}
    cross join lateral (select happened_at as at from receipts
      where ${ofSource("receipts", "created_at", sql`asked.since`, sql`asked.until`)} and ${passed}
      order by source_id desc, created_at desc limit 1) as newest
    cross join lateral (select max(recent.at) as at from (select happened_at as at from receipts
      where ${ofSource("receipts", "created_at", sql`greatest(asked.since, newest.at)`, sql`asked.until`)} and ${passed}
      order by source_id, created_at offset 0) as recent) as latest`.execute(db);
  return mapOf(rows);
}

const movedBy = (moment: Date | null, ms: number): Date | null =>
  moment === null ? null : new Date(moment.getTime() + ms);
