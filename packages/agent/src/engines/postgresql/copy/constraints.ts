import type { BrokenConstraint, CheckedConstraints } from "../../../checks/index.ts";
import type { IntegrityLimits } from "../../engine.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { notOfExtension, OWN_SCHEMAS, rowsOf } from "../schema.ts";

/** The server's own objects have a smaller one. */
const FIRST_OWN_OID = 16_384;

const LISTING_MS = 10_000;
const NAME = "format('%I.%I.%I', n.nspname, r.relname, c.conname)";
/** The size of a table's rows, with those of its partitions. */
const size = (oid: string): string =>
  `(select coalesce(sum(pg_table_size(p.relid)), 0) from (select relid from pg_partition_tree(${oid}) union select ${oid}) p)`;
const only = (relkind: string): string => `case when ${relkind} = 'p' then '' else 'only ' end`;
/** PostgreSQL itself casts so when it checks a foreign key. */
const cast = (type: string, wanted: string): string =>
  `case when ${type} <> ${wanted} then (select format('::%I.%I', tn.nspname, t.typname) from pg_type t join pg_namespace tn on tn.oid = t.typnamespace where t.oid = ${wanted} and t.typtype <> 'p') end`;

/**
 * Whether PostgreSQL itself has looked at all rows since the constraint exists, so that a query
 * could find nothing. It did when the restore added the constraint, and its triggers did with each
 * row since then. Only a superuser gets a row past them, and the role that loaded the dump is none.
 * Not so where a deletion or an update cascades: a trigger of the dump can stop that half-way, and
 * it may be gone by now.
 */
const IS_ENFORCED = `
    c.convalidated and c.confupdtype in ('a', 'r') and c.confdeltype in ('a', 'r')
    and r.relkind = 'r' and p.relkind = 'r' and not r.relispartition and not p.relispartition
    and exists (select from pg_roles l where l.rolname = current_user and l.rolname = '${LOADING_ROLE}' and not l.rolsuper and r.relowner = l.oid and p.relowner = l.oid)
    and (select count(*) from pg_trigger t where t.tgconstraint = c.oid and t.tgisinternal and t.tgenabled = 'O') = 4`;

/**
 * Each row is a JSON array: the constraint, whether the catalogue says that it was validated, and
 * the query that counts the rows that refer to none. It compares as the constraint itself does,
 * with its own operators and its referenced column's collation. A foreign key over periods has no
 * query. Then comes whether an operator or type is not the server's own: comparing may then run
 * code of the dump. Last comes `IS_ENFORCED`.
 */
const FOREIGN_KEYS = `
  select json_build_array(${NAME}, c.convalidated, case when coalesce(to_jsonb(c)->>'conperiod', 'false') = 'false' then
    format('select count(*) from %s%I.%I fk where (%s) and not exists (select from %s%I.%I pk where %s)',
      ${only("r.relkind")}, n.nspname, r.relname, k.referring, ${only("p.relkind")}, pn.nspname, p.relname, k.equal) end, k.foreign, ${IS_ENFORCED})
  from pg_constraint c
    join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
    join pg_class p on p.oid = c.confrelid join pg_namespace pn on pn.oid = p.relnamespace
    cross join lateral (
      select bool_or(greatest(o.oid, fa.atttypid, pa.atttypid) >= ${FIRST_OWN_OID}) as foreign, string_agg(format('fk.%I is not null', fa.attname), case c.confmatchtype when 'f' then ' or ' else ' and ' end) as referring,
        string_agg(format('pk.%I%s operator(%I.%s) fk.%I%s%s', pa.attname, ${cast("pa.atttypid", "o.oprleft")}, onsp.nspname, o.oprname, fa.attname, ${cast("fa.atttypid", "o.oprright")},
          case when pa.attcollation <> fa.attcollation and pa.attcollation <> 0
            then (select format(' collate %I.%I', cn.nspname, pc.collname) from pg_collation pc join pg_namespace cn on cn.oid = pc.collnamespace where pc.oid = pa.attcollation) end), ' and ') as equal
      from unnest(c.conkey, c.confkey, c.conpfeqop) as key (fk, pk, op)
        join pg_attribute fa on fa.attrelid = c.conrelid and fa.attnum = key.fk
        join pg_attribute pa on pa.attrelid = c.confrelid and pa.attnum = key.pk
        join pg_operator o on o.oid = key.op join pg_namespace onsp on onsp.oid = o.oprnamespace) k
  where c.contype = 'f' and c.conparentid = 0 and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "r.oid")}
  order by ${size("c.conrelid")} + ${size("c.confrelid")}, c.conname`;

/** One query for each table: how many rows each of its check constraints does not hold for. */
const CHECK_CONSTRAINTS = `
  select json_build_array(json_agg(${NAME} order by c.oid)::text, json_agg(c.convalidated order by c.oid)::text,
    format('select json_build_array(%s) from only %I.%I',
      string_agg(format('count(*) filter (where not (%s))', pg_get_expr(c.conbin, c.conrelid)), ', ' order by c.oid), n.nspname, r.relname))
  from pg_constraint c join pg_class r on r.oid = c.conrelid and r.relkind = 'r' join pg_namespace n on n.oid = r.relnamespace
  where c.contype = 'c' and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "r.oid")}
  group by r.oid, r.relname, n.nspname order by pg_table_size(r.oid), r.relname`;

type InSession = <Result>(
  signal: AbortSignal,
  use: (session: PsqlSession) => Promise<Result>,
) => Promise<Result>;

/**
 * Counts the rows of the copy that break a foreign key or a check constraint, those of the smallest
 * tables first. Foreign keys that PostgreSQL itself validated in this restore are only counted. One
 * query takes at most half of the time that is left. Foreign keys that compare with the server's
 * own operators are looked at first; what may run code of the dump when the returned function is
 * called. That answers null if there are no such constraints.
 * @throws SessionEnded
 */
export async function checkConstraints(
  inSession: InSession,
  { beside_ms, alone_ms, signal }: IntegrityLimits,
): Promise<(signal: AbortSignal) => Promise<CheckedConstraints | null>> {
  const found = new Found();
  const [foreignKeys, checks] = await inSession(signal, async (session) => {
    const asking = new Asking(session, beside_ms);
    const keys = await asking.list(FOREIGN_KEYS, "all foreign keys", found);
    const listed = await asking.list(CHECK_CONSTRAINTS, "all check constraints", found);
    for (const key of keys) if (!runsCode(key)) await lookAtKey(asking, key, found);
    return [keys, listed];
  });
  const others = foreignKeys.filter(runsCode);
  if (foreignKeys.length + checks.length + found.notChecked.length === 0) return () => Promise.resolve(null);
  return async (within) => {
    if (others.length + checks.length > 0)
      await inSession(within, async (session) => {
        const asking = new Asking(session, alone_ms);
        for (const key of others) await lookAtKey(asking, key, found);
        for (const each of checks) await lookAtChecks(asking, each, found);
      });
    return found;
  };
}

class Found implements CheckedConstraints {
  foreignKeys = 0;
  validatedByRestore = 0;
  checks = 0;
  readonly broken: BrokenConstraint[] = [];
  readonly notChecked: string[] = [];
}

/** Questions that have a certain time together. */
class Asking {
  readonly #session: PsqlSession;
  readonly #deadline: number;

  constructor(session: PsqlSession, budget_ms: number) {
    this.#session = session;
    this.#deadline = performance.now() + budget_ms;
  }

  async list(sql: string, what: string, { notChecked }: Found): Promise<string[][]> {
    await this.#session.run(`set statement_timeout = ${LISTING_MS}`);
    const listed = await this.#session.run(sql);
    if (!listed.ok) notChecked.push(what);
    return listed.ok ? rowsOf(listed.output) : [];
  }

  async ask(sql: string): Promise<string | null> {
    const half_ms = Math.floor((this.#deadline - performance.now()) / 2);
    if (half_ms < 1) return null;
    await this.#session.run(`set statement_timeout = ${half_ms}`);
    const asked = await this.#session.runForeign(sql);
    return asked.ok ? asked.output.trim() : null;
  }
}

function runsCode([, , , code]: readonly string[]): boolean {
  return code !== "false";
}

async function lookAtKey(
  asking: Asking,
  [name = "", validated, sql = "null", code, isEnforced]: readonly string[],
  found: Found,
): Promise<void> {
  if (isEnforced === "true" && code === "false" && sql !== "null") {
    found.foreignKeys++;
    found.validatedByRestore++;
    return;
  }
  const rows = sql === "null" ? null : countOf(await asking.ask(sql));
  if (rows === null) {
    found.notChecked.push(name);
    return;
  }
  found.foreignKeys++;
  if (rows > 0n) found.broken.push({ name, rows, why: validated === "true" ? "foreign_key" : "not_valid" });
}

async function lookAtChecks(
  asking: Asking,
  [listedNames = "[]", listedValid = "[]", sql = ""]: readonly string[],
  found: Found,
): Promise<void> {
  const names = (JSON.parse(listedNames) as unknown[]).map(String);
  const valid = JSON.parse(listedValid) as unknown[];
  const [counts = []] = rowsOf((await asking.ask(sql)) ?? "");
  for (const [at, name] of names.entries()) {
    const rows = countOf(counts[at] ?? null);
    if (rows === null) found.notChecked.push(name);
    else {
      found.checks++;
      if (rows > 0n) found.broken.push({ name, rows, why: valid[at] === true ? "check" : "not_valid" });
    }
  }
}

function countOf(text: string | null): bigint | null {
  return text !== null && /^[0-9]{1,19}$/.test(text) ? BigInt(text) : null;
}
