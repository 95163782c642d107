import type { PostgresqlSettings } from "../../../config/engines/postgresql.ts";
import { FURTHEST_ZONE_H, ZONES_S } from "../../../checks/index.ts";
import type { SourceOf } from "../../engine.ts";
import { MAX_COLUMNS, type Measurables, measurablesOf, type NewestTime } from "../../measurable.ts";
import { notOfExtension, OWN_SCHEMAS, rowsOf } from "../schema.ts";
import { outputOf } from "../connection/session-error.ts";
import { inReadingSession } from "../connection/source-session.ts";

const COLUMNS = `
  select json_build_array(format('%I.%I', n.nspname, c.relname), quote_ident(a.attname),
    case a.atttypid when 'timestamptz'::regtype then 'zone' when 'timestamp'::regtype then 'none' else '' end)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where c.relkind in ('r', 'p') and not c.relispartition and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
    and a.attnum > 0 and not a.attisdropped
  order by n.nspname, c.relname, a.attnum limit ${MAX_COLUMNS + 1}`;

/**
 * The tables of a source and their columns, by the server's own spelling.
 * @throws RunError
 */
export function listPostgresqlColumns(
  { connection, slug }: SourceOf<PostgresqlSettings>,
  signal: AbortSignal,
): Promise<Measurables> {
  return inReadingSession({ connection, called: `the source ${slug}` }, signal, async (session) => {
    await session.run("set statement_timeout = 10000");
    const rows = rowsOf(outputOf(await session.run(COLUMNS), "listing the columns"));
    return measurablesOf(
      rows.map(([table = "", name = "", zone = ""]) => ({
        table,
        column: { name, newest: newestOf(name, zone) },
      })),
    );
  });
}

function newestOf(column: string, zone: string): NewestTime | null {
  if (zone === "zone") return { sql: `max(${column})`, slack_h: 0 };
  if (zone !== "none") return null;
  const sql = `(max(${column}) - interval '${FURTHEST_ZONE_H} hours') at time zone 'UTC'`;
  return { sql, slack_h: ZONES_S / 3600 };
}
