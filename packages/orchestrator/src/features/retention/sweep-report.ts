import type { Database } from "../../platform/database/schema.ts";

/** The result of the last sweep, for the metrics and `doctor`. */
export interface SweepReport {
  at: Date;
  objects: number;
  /** In quarantine afterwards. */
  quarantined: number;
  /** Objects that the database does not know and that this sweep would have taken. */
  taken: number;
  /** Whether it took none of them, because they were too many. */
  stopped: boolean;
  removed: number;
}

const SETTING = "objects_sweep";

export async function recordSweep(db: Database, report: SweepReport): Promise<void> {
  const value = JSON.stringify(report);
  await db
    .insertInto("service_settings")
    .values({ name: SETTING, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

export async function readSweep(db: Database): Promise<SweepReport | null> {
  const row = await db
    .selectFrom("service_settings")
    .select("value")
    .where("name", "=", SETTING)
    .executeTakeFirst();
  if (row === undefined) return null;
  const value = row.value as Omit<SweepReport, "at"> & { at: string };
  return { ...value, at: new Date(value.at) };
}
