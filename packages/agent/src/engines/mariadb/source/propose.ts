import {
  FURTHEST_ZONE_H,
  MAX_REFERENCES,
  MAX_TIME_COLUMNS,
  OBSERVED_DAYS,
  proposeFromSource,
  type Proposals,
  type QueryOutcome,
  type TimeColumn,
  ZONES_S,
} from "../../../checks/index.ts";
import type { MariadbSettings } from "../../../config/engines/mariadb.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { SourceOf } from "../../engine.ts";
import { limited } from "../connection/limited.ts";
import { chosenDatabases } from "./chosen-databases.ts";
import { serverVersion } from "../connection/server-version.ts";
import { outcomeOf } from "../copy/run-query.ts";
import { inList, tableName } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { inSourceSession } from "../connection/source-session.ts";

/** How long the source may be asked. */
const BUDGET_MS = 30_000;
const STATEMENT_S = 5;

const PREPARATION = [
  "set session transaction read only",
  "set session time_zone = '+00:00'",
  "set session lock_wait_timeout = 1",
];

/** Of the tables with the most rows first, and of one table the first column. */
const times = (databases: readonly string[]): string => `
  select c.table_schema, c.table_name, c.column_name, c.data_type
  from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where ${inList("c.table_schema", databases)} and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
    and c.data_type in ('timestamp', 'datetime') and coalesce(c.generation_expression, '') = ''
  order by coalesce(t.table_rows, 0) desc, 1, 2, c.ordinal_position limit ${MAX_TIME_COLUMNS}`;

const references = (databases: readonly string[]): string => `
  select k.table_schema, k.table_name, k.referenced_table_schema, k.referenced_table_name
  from information_schema.key_column_usage k
    join information_schema.columns c on c.table_schema = k.table_schema and c.table_name = k.table_name and c.column_name = k.column_name
    join information_schema.tables t on t.table_schema = k.table_schema and t.table_name = k.table_name
  where ${inList("k.table_schema", databases)} and ${inList("k.referenced_table_schema", databases)}
    and (k.table_schema, k.table_name) <> (k.referenced_table_schema, k.referenced_table_name)
  group by k.table_schema, k.table_name, k.constraint_name, k.referenced_table_schema, k.referenced_table_name
  having sum(c.is_nullable = 'YES') = 0
  order by max(coalesce(t.table_rows, 0)) desc, 1, 2, k.constraint_name limit ${MAX_REFERENCES}`;

/** A column of times, in seconds since 1970. */
interface Form {
  readonly seconds: (time: string) => string;
  /** As in `TimeColumn`. */
  readonly slack_s: number;
}

const TIMESTAMP: Form = { seconds: (time) => `unix_timestamp(${time})`, slack_s: 0 };
const DATETIME: Form = {
  seconds: (time) => `timestampdiff(second, '1970-01-01', ${time})`,
  slack_s: ZONES_S,
};

/**
 * Looks at the source, read-only and for a short time, and proposes checks.
 * @throws RunError
 */
export function proposeMariadb(
  source: SourceOf<MariadbSettings>,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Proposals> {
  return inSourceSession(source, context, async (session, connection) => {
    const version = await serverVersion(session);
    for (const sql of PREPARATION) await session.run(sql);
    const databases = await chosenDatabases(source, connection, session);
    return propose(session, { version, databases });
  });
}

async function propose(
  session: MariadbSession,
  { version, databases }: { readonly version: string; readonly databases: readonly string[] },
): Promise<Proposals> {
  const deadline = performance.now() + BUDGET_MS;
  const forms = new Map<TimeColumn, Form>();
  const asked = async (
    select: string,
  ): Promise<QueryOutcome & { cells?: readonly (readonly string[])[] }> => {
    const left_s = Math.min(STATEMENT_S, (deadline - performance.now()) / 1000);
    if (left_s <= 0) return { kind: "timeout", after_s: 0 };
    const statement = await session.runForeign(limited(version, select, left_s));
    return { ...outcomeOf(statement, left_s), ...(statement.ok ? { cells: statement.rows } : {}) };
  };
  const list = async (select: string): Promise<readonly (readonly string[])[]> =>
    (await asked(select)).cells ?? [];
  return proposeFromSource({
    times: async () =>
      (await list(times(databases))).map(([database = "", table = "", name = "", type = ""]) => {
        const form = type === "timestamp" ? TIMESTAMP : DATETIME;
        const column = timeColumn({ database, table, name }, form);
        forms.set(column, form);
        return column;
      }),
    observe: async (column) => (await list(observed(column, forms.get(column) ?? DATETIME)))[0],
    references: async () =>
      (await list(references(databases))).map(([of = "", child = "", toOf = "", parent = ""]) => ({
        child: { table: tableName(of, child), name: child },
        parent: { table: tableName(toOf, parent), name: parent },
      })),
    count: async (tables) =>
      (await list(`select ${tables.map((table) => `(select count(*) from ${table})`).join(", ")}`))[0],
    // Each of our queries gives one number, whose column it names.
    ask: async (query) => {
      const name = / as (newest|ratio)\b/.exec(query)?.[1] ?? "";
      return asked(
        `select concat('{"${name}":', coalesce(cast(q.${name} as char), 'null'), '}') from (${query}) q`,
      );
    },
  });
}

function timeColumn(
  { database, table, name }: { readonly database: string; readonly table: string; readonly name: string },
  { seconds, slack_s }: Form,
): TimeColumn {
  const [from, column] = [tableName(database, table), quoted(name)];
  const newest = slack_s === 0 ? `max(${column})` : `max(${column}) - interval ${FURTHEST_ZONE_H} hour`;
  return {
    tableName: table,
    table: from,
    column,
    slack_s,
    newest: (rows) => `select ${seconds(newest)} as newest from ${rows}`,
    none: `(select * from ${from} where 1 = 0) gone`,
    nulls: `(select nullif(${column}, ${column}) as ${column} from ${from}) gone`,
    older: `(select ${column} - interval 1 year as ${column} from ${from}) gone`,
  };
}

function observed({ table, column, slack_s }: TimeColumn, { seconds }: Form): string {
  const newest = `(select max(${column}) from ${table})`;
  return `select unix_timestamp() - ${seconds(newest)} + ${slack_s === 0 ? 0 : FURTHEST_ZONE_H * 3600}, count(*), (max(hour) - min(hour)) * 3600, max(gap) * 3600
    from (select hour, hour - lag(hour) over (order by hour) as gap from
      (select distinct floor(${seconds(column)} / 3600) as hour from ${table} where ${column} > ${newest} - interval ${OBSERVED_DAYS} day) hours) gaps`;
}
