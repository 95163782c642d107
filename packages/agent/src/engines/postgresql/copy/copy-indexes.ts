import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { CheckedIndexes } from "../../../checks/index.ts";
import type { IntegrityLimits } from "../../engine.ts";
import { sideBySide } from "../../../processes/side-by-side.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import { PsqlSession, type Statement } from "../connection/psql-session.ts";
import { OWN_SCHEMAS, rowsOf } from "../schema.ts";
import { isOfThePlace } from "../connection/session-error.ts";

const LISTING_MS = 10_000;
const CORRUPTED = /^XX00[12]$/;
const TIMED_OUT = "57014";

/** With more sessions, the budget would often end in the middle of several large indexes. */
const MAX_SESSIONS = 4;
/** Less than this is looked at before another session has begun. */
const LEAST_BYTES = 16 << 20;

/**
 * The smallest first, with the bytes that are read for each, whether it may run functions of the
 * dump, and whether each row is searched in it. An index that was just built of columns alone, in
 * the order of PostgreSQL's own operators, has every row. A dump has the indexes of its own schemas
 * only.
 */
const INDEXES = `
  select json_build_array(format('%I.%I', n.nspname, i.relname), i.oid::text, (pg_relation_size(i.oid) + pg_relation_size(x.indrelid))::text,
    x.indexprs is not null or x.indpred is not null,
    x.indexprs is not null or x.indpred is not null or exists (select from pg_opclass o where o.oid = any(x.indclass) and o.opcnamespace <> 'pg_catalog'::regnamespace))
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am a on a.oid = i.relam join pg_namespace n on n.oid = i.relnamespace
  where a.amname = 'btree' and i.relkind = 'i' and x.indisready and x.indisvalid and ${OWN_SCHEMAS}
  order by pg_relation_size(i.oid) + pg_relation_size(x.indrelid), i.oid`;

const HAS =
  "select json_build_array(quote_ident(n.nspname)) from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'amcheck'";

/** A restored database, as far as looking at its indexes needs it. */
export interface IndexedCopy {
  readonly server: ScratchServer;
  readonly database: string;
  /** A session of the role that loaded the indexes. */
  readonly inSession: <Result>(
    signal: AbortSignal,
    use: (session: PsqlSession) => Promise<Result>,
  ) => Promise<Result>;
}

/**
 * Checks the copy's B-tree indexes with amcheck. This runs as the role that loaded them and with
 * the settings of the load, because an index's own functions come from the dump. The returned
 * function checks the indexes that run such functions. An error other than corruption says nothing
 * about the index. The amcheck extension is created for this and dropped again. The function
 * returns null if there is no index.
 * @throws RestoreRefused, RunError, SessionEnded
 */
export async function checkIndexes(
  { server, database, inSession }: IndexedCopy,
  { beside_ms, alone_ms, signal }: IntegrityLimits,
): Promise<(signal: AbortSignal) => Promise<CheckedIndexes | null>> {
  const deadline = performance.now() + beside_ms;
  const listed = await inSession(signal, async (session) => {
    await session.run(`set statement_timeout = ${LISTING_MS}`);
    return session.run(INDEXES);
  });
  if (!listed.ok) return always({ indexes: 0, unfit: [], notChecked: ["all indexes (not listed)"] });
  const all = rowsOf(listed.output);
  if (all.length === 0) return always(null);
  // In a database of the customer's, the agent adds nothing.
  if (server.runtime.kind === "uri") return always(withoutAmcheck("not in sandbox.database"));
  // Nobody else's schema has that name.
  const own = `attestore_amcheck_${randomBytes(8).toString("hex")}`;
  const inOwner = async <Result>(
    within: AbortSignal,
    use: (owner: PsqlSession) => Promise<Result>,
  ): Promise<Result> => {
    const owner = await PsqlSession.open(server.run, { PGDATABASE: database }, within);
    try {
      return await use(owner);
    } finally {
      await owner.close();
    }
  };
  // Nothing that a check of the customer sees is left of it.
  const dropAmcheck = (within: AbortSignal): Promise<unknown> =>
    inOwner(within, (owner) => owner.run(`drop schema if exists ${own} cascade`)).catch(() => undefined);
  const schema = await inOwner(signal, (owner) => amcheckIn(owner, own));
  if (schema === null) {
    await dropAmcheck(signal);
    return always(withoutAmcheck("amcheck is not installed"));
  }
  const [plain, others] = [all.filter((each) => !runsCode(each)), all.filter(runsCode)];
  const waiting = plain.values();
  const found = await sideBySide<readonly CheckedIndexes[]>(
    signal,
    Array.from(
      { length: sessionsFor(plain) },
      () => (within: AbortSignal) =>
        inSession(within, (session) => lookAt(session, waiting, schema.name, deadline)),
    ),
  );
  return async (within) => {
    try {
      if (others.length === 0) return sumOf(found);
      const until = performance.now() + alone_ms;
      const look = await inSession(within, (session) => lookAt(session, others, schema.name, until));
      return sumOf([look, ...found]);
    } finally {
      await dropAmcheck(within);
    }
  };
}

function always(checked: CheckedIndexes | null): () => Promise<CheckedIndexes | null> {
  return () => Promise.resolve(checked);
}

function sumOf(found: readonly CheckedIndexes[]): CheckedIndexes {
  return {
    indexes: found.reduce((sum, { indexes }) => sum + indexes, 0),
    unfit: found.flatMap(({ unfit }) => unfit),
    notChecked: found.flatMap(({ notChecked }) => notChecked),
  };
}

function runsCode([, , , code]: readonly string[]): boolean {
  return code !== "false";
}

function searchesRows([, , , , search]: readonly string[]): boolean {
  return search !== "false";
}

function sessionsFor(indexes: readonly (readonly string[])[]): number {
  const bytes = indexes.reduce((sum, [, , size]) => sum + Number(size), 0);
  const most = bytes < LEAST_BYTES ? 1 : Math.min(MAX_SESSIONS, availableParallelism());
  return Math.min(most, indexes.length);
}

function withoutAmcheck(why: string): CheckedIndexes {
  return { indexes: 0, unfit: [], notChecked: [`all indexes (${why})`] };
}

/** The schema of the extension, which the loading role may then use; null if there is none. */
async function amcheckIn(owner: PsqlSession, own: string): Promise<{ readonly name: string } | null> {
  const has = async (): Promise<string | undefined> => {
    const found = await owner.run(HAS);
    return found.ok ? rowsOf(found.output)[0]?.[0] : undefined;
  };
  if ((await has()) === undefined) {
    await owner.run(`create schema ${own}`);
    await owner.run(`create extension amcheck with schema ${own}`);
  }
  const name = await has();
  if (name === undefined) return null;
  await owner.run(`grant usage on schema ${name} to ${LOADING_ROLE}`);
  const granted = await owner.run(
    `grant execute on function ${name}.bt_index_check(regclass, boolean) to ${LOADING_ROLE}`,
  );
  return granted.ok ? { name } : null;
}

/**
 * One index after the other of those that wait, until none does. Each takes at most half of the
 * time that is left.
 */
async function lookAt(
  session: PsqlSession,
  waiting: Iterable<readonly string[]>,
  schema: string,
  deadline: number,
): Promise<CheckedIndexes> {
  const unfit: string[] = [];
  const notChecked: string[] = [];
  let indexes = 0;
  await session.run("set maintenance_work_mem = '16MB'");
  // As pg_restore had it when it built them: a function may give another result with another path.
  await session.run(`select pg_catalog.set_config('search_path', '${PATH_OF_LOAD}', false)`);
  for (const index of waiting) {
    const [name = "", oid = ""] = index;
    const half_ms = Math.floor((deadline - performance.now()) / 2);
    if (half_ms < 1) {
      notChecked.push(`${name} (no time)`);
      continue;
    }
    await session.run(`set statement_timeout = ${half_ms}`);
    const check = `select ${schema}.bt_index_check(${oid}::pg_catalog.oid::pg_catalog.regclass, ${searchesRows(index)})`;
    const first = await session.runForeign(check);
    const isUnfit = !first.ok && CORRUPTED.test(first.sqlstate) && runsCode(index);
    const looked = isUnfit ? await builtForAmcheck(session, name, check) : first;
    if (looked.ok || CORRUPTED.test(looked.sqlstate)) indexes++;
    if (looked.ok) continue;
    if (CORRUPTED.test(looked.sqlstate)) unfit.push(name);
    else
      notChecked.push(
        `${name} (${looked.sqlstate === TIMED_OUT ? "no time" : `SQLSTATE ${looked.sqlstate}`})`,
      );
  }
  return { indexes, unfit, notChecked };
}

/** What pg_restore sets before it builds an index. */
const PATH_OF_LOAD = "";
const PATH_OF_AMCHECK = "pg_catalog, pg_temp";

/**
 * From 15.20 on, amcheck runs an index's functions with a search_path of its own, but PostgreSQL
 * before 17 builds the index with that of the session. So an honest index whose function depends on
 * the path does not fit until it is built with amcheck's path. An index that fits once it is built
 * anew as the restore did it depends on something else, such as the time, which stands still in a
 * transaction.
 */
async function builtForAmcheck(session: PsqlSession, name: string, check: string): Promise<Statement> {
  const again = await builtAnew(session, name, check, PATH_OF_LOAD);
  if (again.ok) return UNFIT;
  return CORRUPTED.test(again.sqlstate) ? builtAnew(session, name, check, PATH_OF_AMCHECK) : again;
}

/** Builds it, checks it, and takes that back. */
async function builtAnew(
  session: PsqlSession,
  name: string,
  check: string,
  path: string,
): Promise<Statement> {
  await session.run("begin read write");
  try {
    await session.run(`select pg_catalog.set_config('search_path', '${path}', true)`);
    const built = await session.runDynamic(`reindex index ${name}`);
    if (built.ok) return await session.runForeign(check);
    // One that cannot be built is as unfit as it was found, unless the server lacked something.
    return isOfThePlace(built.sqlstate) ? built : UNFIT;
  } finally {
    await session.run("rollback");
  }
}

const UNFIT: Statement = { ok: false, sqlstate: "XX002", message: "" };
