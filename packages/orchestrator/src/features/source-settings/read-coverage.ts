import type { TestCoverage } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

const DAY_MS = 24 * 3600 * 1000;
/** How many of the oldest are looked at. */
const MAX_BACKUPS = 1000;

/**
 * How many of a source's kept backups are at least 30 days old, and how many of those had a restore
 * test, with any result, in the last 90 days. Reads only columns that the index `backups_coverage`
 * has.
 */
export async function readCoverage(db: Database, sourceId: string, now: Date): Promise<TestCoverage> {
  const ago = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  const { rows } = await sql<TestCoverage>`
    select count(*) as older_than_30_days,
      count(*) filter (where proven_at >= ${ago(90)} or failed_at >= ${ago(90)}) as tested_within_90_days
    from (select made_at, proven_at, failed_at from backups
      where source_id = ${sourceId} and status = 'available' order by id limit ${MAX_BACKUPS}) as kept
    where made_at < ${ago(30)}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("a count returned no row");
  return row;
}
