import type { QueryOutcome } from "../../../checks/index.ts";
import type { Ruined } from "../../engine.ts";
import { literal, type PsqlSession, type Statement } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";

/** Runs the check's query in the open transaction. */
export type AskQuery = (session: PsqlSession) => Promise<QueryOutcome>;

export interface RuinRequest {
  readonly query: string;
  readonly ask: AskQuery;
  /** Milliseconds for everything. */
  readonly budget_ms: number;
  readonly timeout_s: number;
}

/** Enough to show whether a check can fail. */
const MAX_WAYS = 24;
const TIMED_OUT = "57014";

/** Our own SQLSTATEs. The blocks below raise them. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["AT001", "there is nothing in it"],
  ["AT002", "it could not be changed"],
]);

/**
 * Tries each way in its own transaction, which it rolls back. The query itself runs read-only, as
 * it always does.
 * @throws SessionEnded
 */
export async function ruinInTurn(session: PsqlSession, request: RuinRequest): Promise<Ruined[]> {
  const deadline = performance.now() + request.budget_ms;
  const limit = async (): Promise<boolean> => {
    const left_ms = Math.min(deadline - performance.now(), request.timeout_s * 1000);
    if (left_ms < 1) return false;
    return (await session.run(`set statement_timeout = ${Math.ceil(left_ms)}`)).ok;
  };
  const ruined: Ruined[] = [];
  for (const way of await waysOf(session, request, await limit())) {
    if (way.block === null) ruined.push({ how: way.how, outcome: notTried(way.reason) });
    else if (await limit()) ruined.push({ how: way.how, outcome: await tryWay(session, way.block, request) });
    else ruined.push({ how: way.how, outcome: notTried("no time was left") });
  }
  return ruined;
}

async function tryWay(session: PsqlSession, block: string, { ask }: RuinRequest): Promise<Ruined["outcome"]> {
  await session.run("begin transaction read write");
  try {
    const done = await session.run(block);
    if (!done.ok) return notTried(reasonOf(done.sqlstate));
    const readOnly = await session.run("set transaction read only");
    return readOnly.ok ? await ask(session) : notTried(reasonOf(readOnly.sqlstate));
  } finally {
    await session.run("rollback");
  }
}

function reasonOf(sqlstate: string): string {
  if (sqlstate === TIMED_OUT) return "no time was left";
  return REASONS.get(sqlstate) ?? `PostgreSQL refused it (SQLSTATE ${sqlstate})`;
}

function notTried(reason: string): { kind: "not_tried"; reason: string } {
  return { kind: "not_tried", reason };
}

type Way =
  | { readonly how: string; readonly block: string }
  | { readonly how: string; readonly block: null; readonly reason: string };

/** A partitioned table is ruined as a whole. */
const TABLES_READ = `select distinct json_build_array(c.oid::text, c.relkind, c.oid::regclass::text)::text
  from (select coalesce(pg_partition_root(relid), relid) as oid from pg_stat_xact_user_tables
        where coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0) as read join pg_class c using (oid) order by 1`;

/**
 * The columns that the query names, also through views. The server recorded them when it created
 * the view.
 */
const COLUMNS_READ = `with recursive rule (oid) as (
    select oid from pg_rewrite where ev_class = 'pg_temp.attestore_ruin'::regclass
    union
    select w.oid from rule join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = rule.oid and d.refclassid = 'pg_class'::regclass
      join pg_class v on v.oid = d.refobjid and v.relkind = 'v' join pg_rewrite w on w.ev_class = v.oid),
  named as (
    select distinct coalesce(pg_partition_root(d.refobjid), d.refobjid) as relation, named.attname
    from rule join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = rule.oid and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0
      join pg_attribute named on named.attrelid = d.refobjid and named.attnum = d.refobjsubid)
  select json_build_array(c.oid::text, format('%s.%I', c.oid::regclass, a.attname), a.attname,
      not a.attnotnull and a.attgenerated = '', a.atttypid in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) and a.attgenerated = '')::text
  from named join pg_class c on c.oid = named.relation and c.relkind in ('r', 'p')
    join pg_attribute a on a.attrelid = c.oid and a.attname = named.attname and a.attnum > 0 order by 1`;

/**
 * The query reads what the server scanned while the query ran, also in functions. If no view can be
 * made of the query, it names no columns, but its tables are still emptied.
 */
async function waysOf(
  session: PsqlSession,
  { query, ask }: RuinRequest,
  hasTime: boolean,
): Promise<readonly Way[]> {
  if (!hasTime) return [{ how: "ruined data", block: null, reason: "no time was left" }];
  await session.run("begin transaction read write");
  try {
    const asked = await ask(session);
    if (asked.kind !== "rows")
      return [{ how: "ruined data", block: null, reason: "the query did not end in time" }];
    await session.run("set local search_path = pg_catalog, pg_temp");
    const tables = rowsIn(await session.run(TABLES_READ)).map(([oid = "", kind = "", name = ""]) =>
      kind === "r" || kind === "p"
        ? { how: `an empty ${name}`, block: emptied(oid) }
        : { how: `an empty ${name}`, block: null, reason: "it is no table" },
    );
    await session.run("reset search_path");
    const inner = query.replace(/[;\s]+$/, "");
    const view = await session.runDynamic(
      `create temporary view attestore_ruin as select * from (${inner}\n) q`,
    );
    if (!view.ok)
      return [...tables, { how: "other columns", block: null, reason: "the server cannot say which" }];
    await session.run("set local search_path = pg_catalog, pg_temp");
    const columns = rowsIn(await session.run(COLUMNS_READ)).flatMap(
      ([oid = "", name = "", column = "", mayBeNull, isTime]): Way[] => [
        ...(mayBeNull === "true" ? [{ how: `${name} null in every row`, block: nulled(oid, column) }] : []),
        ...(isTime === "true" ? [{ how: `${name} a year older`, block: older(oid, column) }] : []),
      ],
    );
    const all = [...tables, ...columns];
    const more = all.length - MAX_WAYS;
    return more <= 0
      ? all
      : [
          ...all.slice(0, MAX_WAYS),
          { how: `${more} more ways`, block: null, reason: "the check reads too many tables and columns" },
        ];
  } finally {
    await session.run("rollback");
  }
}

function rowsIn(statement: Statement): string[][] {
  return statement.ok ? rowsOf(statement.output) : [];
}

/**
 * Deletes every row. The table's triggers and rules do not run, and rows that refer to it do not
 * prevent it.
 */
function emptied(oid: string): string {
  return block(
    oid,
    "select exists (select from %1$s)",
    "truncate %1$s",
    "select not exists (select from %1$s)",
  );
}

function nulled(oid: string, column: string): string {
  return block(
    oid,
    "select exists (select from %1$s where %2$I is not null)",
    "update %1$s set %2$I = null",
    "select not exists (select from %1$s where %2$I is not null)",
    column,
  );
}

function older(oid: string, column: string): string {
  return block(
    oid,
    "select exists (select from %1$s where %2$I is not null)",
    "update %1$s set %2$I = %2$I - interval '1 year'",
    "select true",
    column,
  );
}

/** `before` and `after` say whether there is something to ruin, and whether it is ruined. */
function block(oid: string, before: string, ruin: string, after: string, column = ""): string {
  const text = (sql: string): string => `format('${sql.replaceAll("'", "''")}', of, col)`;
  return `do $attestore$
    declare of text := ${oid}::regclass; col text := ${literal(column)}; each record; held boolean;
    begin
      execute ${text(before)} into held;
      if not held then raise exception using errcode = 'AT001'; end if;
      for each in select conrelid::regclass as of, conname from pg_constraint
        where conparentid = 0 and coninhcount = 0 and (contype = 'f' and confrelid = ${oid} or contype in ('f', 'c') and conrelid = ${oid})
      loop execute format('alter table %s drop constraint if exists %I', each.of, each.conname); end loop;
      execute format('alter table %s disable trigger user', of);
      for each in select rulename from pg_rewrite where ev_class = ${oid}
      loop execute format('alter table %s disable rule %I', of, each.rulename); end loop;
      execute ${text(ruin)};
      execute ${text(after)} into held;
      if not held then raise exception using errcode = 'AT002'; end if;
    end $attestore$`;
}
