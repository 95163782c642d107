import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { LogHead } from "./marker.ts";

/** The installation's name as the database has it. */
export interface NamedInstallation {
  id: string;
  /** Whether a marker with this id was ever written; a crash may come before that. */
  paired: boolean;
}

const SETTING = "installation";

export async function readInstallation(db: Database): Promise<NamedInstallation | null> {
  const row = await db
    .selectFrom("service_settings")
    .select("value")
    .where("name", "=", SETTING)
    .executeTakeFirst();
  return row === undefined ? null : (row.value as NamedInstallation);
}

/** Names the database, unless another replica has: then that is its name. */
export async function nameInstallation(db: Database, id: string): Promise<NamedInstallation> {
  await db
    .insertInto("service_settings")
    .values({ name: SETTING, value: settingOf({ id, paired: false }) })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const named = await readInstallation(db);
  if (named === null) throw new Error("the installation's id was written but is missing");
  return named;
}

export async function setPaired(db: Database, id: string): Promise<void> {
  await db
    .updateTable("service_settings")
    .set({ value: settingOf({ id, paired: true }) })
    .where("name", "=", SETTING)
    .execute();
}

function settingOf(named: NamedInstallation): string {
  return JSON.stringify(named);
}

/** The state of every log, by organisation. */
export async function readLogHeads(db: Database): Promise<Map<string, LogHead>> {
  const rows = await db.selectFrom("logs").select(["org_id", "tree_size", "root_hash"]).execute();
  return new Map(
    rows.map(({ org_id, tree_size, root_hash }) => [
      org_id,
      { size: tree_size, root: root_hash.toString("hex") },
    ]),
  );
}

/** Those of these objects that the database knows, as a backup or as an upload. */
export async function listKnownObjects(db: Database, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ object_key: string }>`
    select object_key from backups where object_key = any(${[...keys]}::text[])
    union select object_key from uploads where object_key = any(${[...keys]}::text[])`.execute(db);
  return rows.map(({ object_key }) => object_key);
}

/** The objects of the newest backups that have one. */
export async function listNewestObjects(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("backups")
    .select("object_key")
    .where("status", "=", "available")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ object_key }) => object_key);
}
