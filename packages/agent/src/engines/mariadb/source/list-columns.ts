import type { MariadbSettings } from "../../../config/engines/mariadb.ts";
import { FURTHEST_ZONE_H, ZONES_S } from "../../../checks/index.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { SourceOf } from "../../engine.ts";
import { MAX_COLUMNS, type Measurables, measurablesOf, type NewestTime } from "../../measurable.ts";
import { chosenDatabases } from "./chosen-databases.ts";
import { serverVersion } from "../connection/server-version.ts";
import { inList, tableName } from "../schema.ts";
import { quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";
import { inSourceSession } from "../connection/source-session.ts";

const columnsOf = (databases: readonly string[]): string => `
  select c.table_schema, c.table_name, c.column_name, c.data_type
  from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where ${inList("c.table_schema", databases)} and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
  order by 1, 2, c.ordinal_position limit ${MAX_COLUMNS + 1}`;

/**
 * The tables of a source and their columns, as our own SQL writes them.
 * @throws RunError
 */
export function listMariadbColumns(
  source: SourceOf<MariadbSettings>,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Measurables> {
  return inSourceSession(source, context, async (session, connection) => {
    await serverVersion(session);
    const databases = await chosenDatabases(source, connection, session);
    const rows = rowsOf(await session.run(columnsOf(databases)), "listing the columns");
    return measurablesOf(
      rows.map(([database = "", table = "", name = "", type = ""]) => ({
        table: tableName(database, table),
        column: { name: quoted(name), newest: newestOf(quoted(name), type) },
      })),
    );
  });
}

/** In seconds since 1970. */
function newestOf(column: string, type: string): NewestTime | null {
  if (type === "timestamp") return { sql: `unix_timestamp(max(${column}))`, slack_h: 0 };
  if (type !== "datetime") return null;
  const newest = `max(${column}) - interval ${FURTHEST_ZONE_H} hour`;
  return { sql: `timestampdiff(second, '1970-01-01', ${newest})`, slack_h: ZONES_S / 3600 };
}
