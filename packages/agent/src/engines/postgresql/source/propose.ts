import {
  FURTHEST_ZONE_H,
  MAX_REFERENCES,
  MAX_TIME_COLUMNS,
  OBSERVED_DAYS,
  proposeFromSource,
  type Proposals,
  type QueryOutcome,
  type Reference,
  type TimeColumn,
  ZONES_S,
} from "../../../checks/index.ts";
import type { PostgresqlSettings } from "../../../config/engines/postgresql.ts";
import type { SourceOf } from "../../engine.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { notOfExtension, OWN_SCHEMAS, rowsOf } from "../schema.ts";
import { inReadingSession } from "../connection/source-session.ts";

/** The time for all queries to the source together. */
const BUDGET_MS = 30_000;
const STATEMENT_MS = 5_000;
const LOCK_MS = 1_000;
const TIMED_OUT = "57014";
const MAX_ROW = 10_000;

const PARTS = "(select relid from pg_partition_tree(c.oid) union select c.oid)";
const TABLE = `c.relkind in ('r', 'p') and not c.relispartition and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}`;
const NAME = (n: string, c: string): string => `format('%I.%I', ${n}.nspname, ${c}.relname)`;

/** Columns of the most written tables come first, and within a table its first column. */
const TIMES = `
  select json_build_array(${NAME("n", "c")}, c.relname, quote_ident(a.attname), a.atttypid = 'timestamptz'::regtype)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where ${TABLE} and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype)
  order by coalesce((select sum(n_tup_ins + n_tup_upd) from pg_stat_user_tables where relid in ${PARTS}), 0) desc, c.reltuples desc, c.oid, a.attnum
  limit ${MAX_TIME_COLUMNS}`;

const REFERENCES = `
  select json_build_array(${NAME("n", "c")}, c.relname, ${NAME("pn", "p")}, p.relname)
  from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_class p on p.oid = f.confrelid join pg_namespace pn on pn.oid = p.relnamespace
  where f.contype = 'f' and f.conparentid = 0 and f.conrelid <> f.confrelid and ${TABLE}
    and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any (f.conkey) and not a.attnotnull)
  order by (select sum(greatest(reltuples, 0)) from pg_class where oid in ${PARTS}) desc, c.oid, f.oid
  limit ${MAX_REFERENCES}`;

const observed = ({ table, column, slack_s }: TimeColumn): string => `
  with newest as (select max(t.${column}) as at from ${table} t),
    hours as (select distinct date_trunc('hour', t.${column}) as hour from ${table} t, newest where t.${column} > newest.at - interval '${OBSERVED_DAYS} days'),
    gaps as (select hour, hour - lag(hour) over (order by hour) as gap from hours)
  select json_build_array(extract(epoch from now())::float8 - extract(epoch from (select at from newest))::float8 + ${slack_s === 0 ? 0 : FURTHEST_ZONE_H * 3600},
    count(*), extract(epoch from max(hour) - min(hour))::float8, extract(epoch from max(gap))::float8) from gaps`;

/**
 * Looks at the source, read-only and for a short time, and proposes checks.
 * @throws RunError
 */
export function proposePostgresql(
  source: SourceOf<PostgresqlSettings>,
  signal: AbortSignal,
): Promise<Proposals> {
  return inReadingSession(
    { connection: source.connection, called: `the source ${source.slug}` },
    signal,
    propose,
  );
}

async function propose(session: PsqlSession): Promise<Proposals> {
  const deadline = performance.now() + BUDGET_MS;
  await session.run(`set lock_timeout = ${LOCK_MS}; set row_security = off`);
  const limit = async (): Promise<boolean> => {
    const left_ms = Math.min(STATEMENT_MS, deadline - performance.now());
    return left_ms >= 1 && (await session.run(`set statement_timeout = ${Math.ceil(left_ms)}`)).ok;
  };
  const list = async (sql: string): Promise<string[][]> => {
    const listed = (await limit()) ? await session.runForeign(sql) : null;
    return listed?.ok === true ? rowsOf(listed.output) : [];
  };
  const ask = async (query: string): Promise<QueryOutcome> => {
    if (!(await limit())) return { kind: "timeout", after_s: 0 };
    const asked = await session.runForeign(
      `select left(row_to_json(q)::text, ${MAX_ROW}) from (${query}\n) q limit 2`,
    );
    if (asked.ok) return { kind: "rows", rows: asked.output.split("\n").filter((row) => row !== "") };
    const { sqlstate, message } = asked;
    return sqlstate === TIMED_OUT
      ? { kind: "timeout", after_s: STATEMENT_MS / 1000 }
      : { kind: "error", message, sqlstate };
  };
  return proposeFromSource({ times, observe, references, count, ask });

  async function times(): Promise<readonly TimeColumn[]> {
    return (await list(TIMES)).map(([table = "", tableName = "", column = "", hasZone]) => ({
      tableName,
      table,
      column,
      slack_s: hasZone === "true" ? 0 : ZONES_S,
      newest: (from) =>
        hasZone === "true"
          ? `select max(${column}) as newest from ${from}`
          : `select (max(${column}) - interval '${FURTHEST_ZONE_H} hours') at time zone 'UTC' as newest from ${from}`,
      none: `(select * from ${table} where 1 = 0) gone`,
      nulls: `(select nullif(${column}, ${column}) as ${column} from ${table}) gone`,
      older: `(select ${column} - interval '1 year' as ${column} from ${table}) gone`,
    }));
  }

  async function observe(column: TimeColumn): Promise<readonly string[] | undefined> {
    const [row] = await list(observed(column));
    return row;
  }

  async function references(): Promise<readonly Reference[]> {
    return (await list(REFERENCES)).map(([child = "", childName = "", parent = "", parentName = ""]) => ({
      child: { table: child, name: childName },
      parent: { table: parent, name: parentName },
    }));
  }

  async function count(tables: readonly string[]): Promise<readonly string[] | undefined> {
    const [counts] = await list(
      `select json_build_array(${tables.map((table) => `(select count(*) from ${table})`).join(", ")})`,
    );
    return counts;
  }
}
