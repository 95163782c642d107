import type { Pool } from "pg";
import { isOwnKey } from "../../platform/objects/object-key.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import type { LogHead } from "./marker.ts";

/** The installation's name as the database has it. */
export interface NamedInstallation {
  id: string;
  /** Whether a marker with this id was ever written; a crash may come before that. */
  paired: boolean;
}

const SETTING = "installation";

export async function readInstallation(pool: Pool): Promise<NamedInstallation | null> {
  const { rows } = await pool.query<{ value: NamedInstallation }>(
    "select value from service_settings where name = $1",
    [SETTING],
  );
  return rows[0]?.value ?? null;
}

/** Names the database, unless another replica has: then that is its name. */
export async function nameInstallation(pool: Pool, id: string): Promise<NamedInstallation> {
  await pool.query(
    "insert into service_settings (name, value) values ($1, $2) on conflict (name) do nothing",
    [SETTING, JSON.stringify({ id, paired: false } satisfies NamedInstallation)],
  );
  const named = await readInstallation(pool);
  if (named === null) throw new Error("the installation's id was written but is missing");
  return named;
}

export async function setPaired(pool: Pool, id: string): Promise<void> {
  await pool.query("update service_settings set value = $2 where name = $1", [
    SETTING,
    JSON.stringify({ id, paired: true } satisfies NamedInstallation),
  ]);
}

/** The state of every log, by organisation. */
export async function readLogHeads(pool: Pool): Promise<Map<string, LogHead>> {
  const { rows } = await pool.query<{ org_id: string; tree_size: number; root: string }>(
    "select org_id, tree_size, encode(root_hash, 'hex') as root from logs",
  );
  return new Map(rows.map(({ org_id, tree_size, root }) => [org_id, { size: tree_size, root }]));
}

export interface Survey {
  objects: number;
  /** Objects that the database does not know, neither as a backup nor as an upload. */
  unknown: number;
  unknownBytes: number;
  /**
   * Of the newest backups that the database has how many were looked for, and how many have no
   * object here.
   */
  sampled: number;
  absent: number;
}

const PAGE = 500;
const SAMPLE = 20;

/** Looks at every object's name, and for the objects of the newest backups. Reads only. */
export async function surveyObjects(pool: Pool, objects: ObjectStore): Promise<Survey> {
  const survey: Survey = { objects: 0, unknown: 0, unknownBytes: 0, sampled: 0, absent: 0 };
  let page = new Map<string, number>();
  const count = async (): Promise<void> => {
    const { rows } = await pool.query<{ object_key: string }>(
      `select object_key from backups where object_key = any($1::text[])
       union select object_key from uploads where object_key = any($1::text[])`,
      [[...page.keys()]],
    );
    for (const { object_key } of rows) page.delete(object_key);
    survey.unknown += page.size;
    for (const bytes of page.values()) survey.unknownBytes += bytes;
    page = new Map();
  };
  for await (const { key, sizeBytes } of objects.list()) {
    if (!isOwnKey(key)) continue;
    survey.objects += 1;
    page.set(key, sizeBytes);
    if (page.size === PAGE) await count();
  }
  await count();
  const { rows } = await pool.query<{ object_key: string }>(
    `select object_key from backups where status = 'available' order by id desc limit $1`,
    [SAMPLE],
  );
  survey.sampled = rows.length;
  for (const { object_key } of rows) if ((await objects.head(object_key)) === null) survey.absent += 1;
  return survey;
}
