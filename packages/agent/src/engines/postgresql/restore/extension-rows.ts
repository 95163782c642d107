import type { Child } from "../../../processes/child.ts";
import { cutLines } from "../../../processes/cut-lines.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { outputOf } from "../database/prepare-database.ts";
import { rowsOf } from "../schema.ts";
import { EntryList } from "../unrestored/entry-list.ts";

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
  const [first, others] = [new EntryList(), new EntryList()];
  // Where in `entries`, which have the same order, the next one is.
  let at = 0;
  for await (const line of cutLines(child.stdout)) {
    const [, id = "", what] = ENTRY.exec(line) ?? [];
    if (what === undefined || (entries !== null && !entries.startsWith(`${id};\n`, at))) continue;
    at += id.length + 2;
    const isOfExtension = tables.some((table) => what.startsWith(`TABLE DATA ${table} `));
    (isOfExtension ? first : others).add(id);
  }
  const [before, after] = [first.end(), others.end()];
  const isWhole = (await child.exited).code === 0 && (entries === null || at === entries.length);
  if (!isWhole || first.isEmpty || before === null || after === null) return null;
  return { first: before, others: after };
}
