import { text } from "node:stream/consumers";
import type { Child } from "../../../processes/child.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { outputOf } from "../database/prepare-database.ts";
import { rowsOf } from "../schema.ts";

const ENTRY = /^(\d+); \d+ \d+ (.*)$/;

/** Tables of the extensions that exist already, as `pg_restore --list` names them. */
const TABLES = `
  select json_build_array(concat_ws(' ', n.nspname, c.relname))
  from pg_extension, unnest(extconfig) own(oid) join pg_class c using (oid) join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r'`;

/** The entries of a dump in two parts, each for pg_restore's `--use-list`. */
export interface ExtensionRowsFirst {
  /** Rows of tables that belong to extensions. */
  readonly first: string;
  readonly others: string;
}

/**
 * Several jobs of pg_restore do not wait for an extension's rows, such as the user's own grids of
 * PostGIS, before they build an index that reads them, or fill a table that refers to them. So one
 * job restores these rows before. Null if there are none, or the dump cannot be listed. `entries`
 * are those to restore; null for all.
 * @throws RunError
 */
export async function extensionRowsFirst(
  { run }: Pick<ScratchServer, "run">,
  database: string,
  entries: string | null,
  list: () => Promise<Child>,
  signal: AbortSignal,
): Promise<ExtensionRowsFirst | null> {
  const session = await PsqlSession.open(run, { PGDATABASE: database }, signal);
  let tables: readonly string[];
  try {
    tables = rowsOf(outputOf(await session.run(TABLES))).map(([name = ""]) => name);
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
  if (tables.length === 0) return null;
  const child = await list();
  child.stdin.end();
  const lines = (await text(child.stdout)).split("\n");
  if ((await child.exited).code !== 0) return null;
  const wanted = entries === null ? null : new Set(entries.split("\n"));
  const first: string[] = [];
  const others: string[] = [];
  for (const line of lines) {
    const [, id = "", what] = ENTRY.exec(line) ?? [];
    const entry = `${id};`;
    if (what === undefined || wanted?.has(entry) === false) continue;
    const isOfExtension = tables.some((table) => what.startsWith(`TABLE DATA ${table} `));
    (isOfExtension ? first : others).push(`${entry}\n`);
  }
  return first.length === 0 ? null : { first: first.join(""), others: others.join("") };
}
