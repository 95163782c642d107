import type { PsqlSession, Statement } from "../connection/psql-session.ts";
import { OWN_SCHEMAS, rowsOf } from "../schema.ts";

/**
 * A restore with owners builds an index, and fills a materialized view, as the owner. A test does
 * both as the role that owns the whole copy, and no other role ever runs the dump's functions. So
 * the catalogue is asked what an owner may not do at that moment of such a restore. An owner who is
 * a superuser needs no grant and no policy, so what has none is not named.
 */

/**
 * Indexes that call a function of the database's own whose text names a schema that the owner of
 * the table may not use: index and schema. pg_restore builds indexes before it grants anything.
 */
const INDEXES = `
  select json_build_array(format('index %I.%I', i.nspname, i.relname), n.oid::text)
  from (select x.*, o.relname, s.nspname, t.relowner from pg_index x join pg_class o on o.oid = x.indexrelid join pg_namespace s on s.oid = o.relnamespace
      join pg_class t on t.oid = x.indrelid where t.relkind = 'r' and (x.indexprs is not null or x.indpred is not null)) i
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refclassid = 'pg_proc'::regclass
    join pg_proc p on p.oid = d.refobjid cross join pg_namespace n
  where ${OWN_SCHEMAS} and not has_schema_privilege(i.relowner, n.oid, 'usage')
    and (strpos(lower(p.prosrc), lower(n.nspname) || '.') > 0 or strpos(p.prosrc, quote_ident(n.nspname) || '.') > 0 or strpos(array_to_string(p.proconfig, ' '), n.nspname) > 0)`;

/**
 * Materialized views of a table that has row level security and another owner, and a policy for the
 * view's owner. pg_restore fills them with `row_security = off`, and then the server refuses to
 * leave rows out.
 */
const VIEWS = `
  select json_build_array(format('materialized view %I.%I', s.nspname, m.relname))
  from pg_class m join pg_namespace s on s.oid = m.relnamespace
  where m.relkind = 'm' and m.relispopulated and exists (
    select from pg_rewrite w join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
      join pg_class t on t.oid = d.refobjid join pg_policy p on p.polrelid = t.oid
    where w.ev_class = m.oid and t.relrowsecurity and (t.relforcerowsecurity or not pg_has_role(m.relowner, t.relowner, 'usage'))
      and (0 = any (p.polroles) or exists (select from unnest(p.polroles) role where pg_has_role(m.relowner, role, 'usage')))
      and not exists (select from pg_roles where oid = m.relowner and (rolsuper or rolbypassrls)))
  order by m.oid`;

/**
 * Names them, for people. After `owners` the copy has the dump's owners and no grants, and after
 * `grants` all of it.
 */
export async function notBuiltAsOwner(
  session: PsqlSession,
  give: { readonly owners: () => Promise<Statement>; readonly grants: () => Promise<Statement> },
): Promise<{ readonly given: boolean; readonly names: readonly string[] }> {
  // A query that is cut off must not end the transaction.
  const ask = async (query: string): Promise<Statement> => {
    await session.run("savepoint asking");
    const asked = await session.run(query);
    await session.run("rollback to savepoint asking");
    return asked;
  };
  const owners = await give.owners();
  const before = await ask(INDEXES);
  const grants = await give.grants();
  const after = await ask(INDEXES);
  const views = await ask(VIEWS);
  const given = owners.ok && grants.ok;
  // Each of these is about the catalogue alone. Without an answer in time, nothing is known.
  if (!before.ok || !after.ok || !views.ok) return { given, names: ["what owners may build and fill"] };
  const still = new Set(rowsOf(after.output).map((row) => JSON.stringify(row)));
  const indexes = rowsOf(before.output).filter((row) => !still.has(JSON.stringify(row)));
  return {
    given,
    names: [
      ...new Set([
        ...indexes.map(([index = ""]) => `whether its owner may build ${index}`),
        ...rowsOf(views.output).map(([view = ""]) => `whether its owner may fill ${view}`),
      ]),
    ],
  };
}
