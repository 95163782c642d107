import type { QueryOutcome } from "../../checks/index.ts";
import type { Ruined } from "../engine.ts";
import { literal, type PsqlSession, type Statement } from "./psql-session.ts";
import { rowsOf } from "./schema.ts";

/** Runs the check's query in the open transaction. */
export type AskQuery = (session: PsqlSession) => Promise<QueryOutcome>;

export interface RuinRequest {
  readonly query: string;
  readonly ask: AskQuery;
  /** Milliseconds for everything. */
  readonly budget_ms: number;
  readonly timeout_s: number;
}

/** No check needs more to show whether it can fail. */
const MAX_WAYS = 24;
const TIMED_OUT = "57014";

/** Our own SQLSTATEs, which the blocks below raise. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["AT001", "there is nothing in it"],
  ["AT002", "it could not be changed"],
]);

/**
 * Each way in a transaction of its own that is rolled back; the query itself runs read-only, as it does otherwise.
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

/** The columns that the query names, also through views: the server noted them when it made the view. */
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
 * What the query reads is what the server scanned while it ran, in functions too. A query of which
 * no view can be made names no columns; its tables are emptied all the same.
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

/** Every row goes, without the table's triggers, rules and what refers to it having a say. */
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

/** `before` and `after` say whether there is something to ruin, and whether it is. */
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
