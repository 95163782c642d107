import type { TestCoverage } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";

const DAY_MS = 24 * 3600 * 1000;
/** How many of the oldest are looked at. */
const MAX_BACKUPS = 1000;

/**
 * How many of a source's kept backups are at least 30 days old, and how many of those had a restore
 * test, with any result, in the last 90 days.
 */
export async function readCoverage(db: Database, sourceId: string, now: Date): Promise<TestCoverage> {
  const kept = await db
    .selectFrom("backups")
    .select(["made_at", "proven_at", "failed_at"])
    .where("source_id", "=", sourceId)
    .where("status", "=", "available")
    .orderBy("id")
    .limit(MAX_BACKUPS)
    .execute();
  const isWithin = (at: Date | null, days: number): boolean =>
    at !== null && now.getTime() - at.getTime() <= days * DAY_MS;
  const older = kept.filter(({ made_at }) => !isWithin(made_at, 30));
  const tested = older.filter(
    ({ proven_at, failed_at }) => isWithin(proven_at, 90) || isWithin(failed_at, 90),
  );
  return { older_than_30_days: older.length, tested_within_90_days: tested.length };
}
