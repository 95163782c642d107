import { setTimeout as delay } from "node:timers/promises";
import type { PostgresqlSettings } from "../../../config/engines/postgresql.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { programsIn } from "../../../processes/run-program.ts";
import type { SourceCheck, SourceOf } from "../../engine.ts";
import { resolveConnection } from "../connection/connection.ts";
import { findInstallations } from "../connection/installations.ts";
import { nameInSet } from "../name-in-set.ts";
import { PsqlSession, SessionEnded, type Statement } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";

/** For all databases together, pauses included. */
const BUDGET_MS = 300_000;
/** For one index or table. */
const ONE_MS = 60_000;
/**
 * A session that changes an index has it locked. This must not wait for them, nor they for this.
 */
const LOCK_MS = 1_000;
const MAX_NAMES = 10;
const CORRUPTED = /^XX00[12]$/;
const REASONS: ReadonlyMap<string, string> = new Map([
  ["57014", "no time"],
  ["55P03", "locked"],
  ["42501", "the role may not"],
]);

/** Ten of each must fit into a receipt. */
const MAX_NAME = 100;

/** The schema of the extension, if there is one and the role may run it. */
const SCHEMA = `
  select json_build_array(quote_ident(n.nspname)) from pg_extension e join pg_namespace n on n.oid = e.extnamespace
  where e.extname = 'amcheck' and (select bool_and(has_function_privilege(p.oid, 'execute') and has_schema_privilege(n.oid, 'usage'))
    from pg_depend d join pg_proc p on p.oid = d.objid
    where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e' and p.proname in ('bt_index_check', 'verify_heapam'))`;

/**
 * In another order each time, so that several backups together reach everything, even if one has
 * too little time. Tables can be checked since PostgreSQL 14. Of an index that calls functions of
 * the database's own, the last call leaves its rows out.
 */
const TO_CHECK = (schema: string): string => `
  select json_build_array(kind, name, call, order_alone) from (
    select 'index' as kind, format('%I.%I', n.nspname, i.relname) as name, format('select ${schema}.bt_index_check(%s::oid::regclass, true)', i.oid) as call,
      case when exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.oid and d.refclassid = 'pg_proc'::regclass)
        then format('select ${schema}.bt_index_check(%s::oid::regclass, false)', i.oid) else '' end as order_alone
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am a on a.oid = i.relam join pg_namespace n on n.oid = i.relnamespace
    where a.amname = 'btree' and i.relkind = 'i' and i.relpersistence = 'p' and x.indisready and x.indisvalid
    union all
    select 'table', format('%I.%I', n.nspname, c.relname), format('select count(*) from ${schema}.verify_heapam(%s::oid::regclass, true)', c.oid), ''
    from pg_class c join pg_am a on a.oid = c.relam join pg_namespace n on n.oid = c.relnamespace
    where a.amname = 'heap' and c.relkind in ('r', 'm', 't') and c.relpersistence = 'p'
      and exists (select from pg_proc where proname = 'verify_heapam' and pronamespace = '${schema}'::regnamespace)
  ) q order by random()`;

const DATABASES =
  "select json_build_array(datname) from pg_database where datallowconn and not datistemplate order by random()";

export async function canRunAmcheck(session: PsqlSession): Promise<boolean> {
  return (await schemaOf(session)) !== null;
}

async function schemaOf(session: PsqlSession): Promise<string | null> {
  const found = await session.run(SCHEMA);
  return found.ok ? (rowsOf(found.output)[0]?.[0] ?? null) : null;
}

class Found {
  readonly counts = { index: 0, table: 0 };
  readonly damaged: string[] = [];
  readonly notChecked: string[] = [];
}

/**
 * Looks at the indexes and tables of the source, one after the other. After each it pauses for as
 * long as that took, so it uses half of the time. An index's own functions run as the table's
 * owner, as they do whenever the index is used.
 * @throws RunError `interrupted`
 */
export async function checkWithAmcheck(
  source: SourceOf<PostgresqlSettings>,
  signal: AbortSignal,
): Promise<SourceCheck | null> {
  if (source.sourceCheck === undefined) return null;
  const started = performance.now();
  const found = new Found();
  try {
    await checkAll(source, found, started + BUDGET_MS, signal);
  } catch {
    stopIfAborted(signal);
    // The backup that follows says what is wrong with the connection.
    found.notChecked.push("the connection: it failed");
  }
  return {
    by: "amcheck",
    indexes: found.counts.index,
    tables: found.counts.table,
    damaged: found.damaged.length,
    damaged_names: found.damaged.slice(0, MAX_NAMES),
    not_checked: found.notChecked.length,
    not_checked_names: found.notChecked.slice(0, MAX_NAMES),
    seconds: Math.round((performance.now() - started) / 1000),
  };
}

async function checkAll(
  { connection, databases }: SourceOf<PostgresqlSettings>,
  found: Found,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const environment = await resolveConnection(connection);
  const newest = (await findInstallations(["pg_dump"])).at(-1);
  // The backup that follows says so.
  if (newest === undefined) return;
  const open = (database: string | null): Promise<PsqlSession> =>
    PsqlSession.open(programsIn(newest.bin), environment, signal, { database, onlyReads: true });
  const names = databases === "all" ? await allDatabases(await open(null)) : (databases ?? [null]);
  for (const name of names) {
    const session = await open(name);
    try {
      await checkOne(session, name, found, deadline, signal);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      found.notChecked.push(`${name ?? "the database"}: the connection failed`);
    } finally {
      await session.close();
    }
  }
}

async function allDatabases(session: PsqlSession): Promise<string[]> {
  try {
    const listed = await session.run(DATABASES);
    return listed.ok ? rowsOf(listed.output).map(([name = ""]) => name) : [];
  } finally {
    await session.close();
  }
}

async function checkOne(
  session: PsqlSession,
  database: string | null,
  found: Found,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  await session.run(`set lock_timeout = ${LOCK_MS}`);
  const schema = await schemaOf(session);
  const listed = schema === null ? null : await session.runForeign(TO_CHECK(schema));
  if (listed?.ok !== true) {
    found.notChecked.push(`${database ?? "the database"}: no amcheck that the role may run`);
    return;
  }
  for (const [kind, plain = "", call = "", orderAlone = ""] of rowsOf(listed.output)) {
    const name = (database === null ? plain : nameInSet(database, plain)).slice(0, MAX_NAME);
    const left_ms = Math.min(ONE_MS, deadline - performance.now());
    if (left_ms < 1) {
      found.notChecked.push(`${name}: no time`);
      continue;
    }
    const begun = performance.now();
    await session.run(`set statement_timeout = ${Math.ceil(left_ms)}`);
    const checked = await session.runForeign(call);
    const isWhole = checked.ok && (kind === "index" || checked.output.trim() === "0");
    const unknown = isWhole ? null : await whyUnknown(session, checked, orderAlone);
    if (unknown === null) {
      found.counts[kind === "index" ? "index" : "table"]++;
      if (!isWhole) found.damaged.push(name);
    } else found.notChecked.push(`${name}: ${unknown}`);
    await delay(performance.now() - begun, undefined, { signal }).catch(() => stopIfAborted(signal));
  }
}

/**
 * Why nobody knows whether something is damaged in which amcheck did not find everything in order;
 * null if it is. From 15.20 on, amcheck runs an index's functions with a search_path of its own, so
 * that one which depends on the path gives another result than when the index was built.
 */
async function whyUnknown(
  session: PsqlSession,
  checked: Statement,
  orderAlone: string,
): Promise<string | null> {
  if (!checked.ok && !CORRUPTED.test(checked.sqlstate)) return reasonOf(checked.sqlstate);
  if (orderAlone === "") return null;
  const again = await session.runForeign(orderAlone);
  if (again.ok) return "its rows, because its function gives another result here";
  return CORRUPTED.test(again.sqlstate) ? null : reasonOf(again.sqlstate);
}

function reasonOf(sqlstate: string): string {
  return REASONS.get(sqlstate) ?? `SQLSTATE ${sqlstate}`;
}
