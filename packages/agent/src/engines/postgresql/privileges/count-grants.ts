import { LOADING_ROLE } from "../database/loading-role.ts";
import { notOfExtension, OWN_SCHEMAS, rowsOf } from "../schema.ts";

const OWN = (from: string, catalog: string, namespace: string): string =>
  `from ${catalog} ${from} join pg_namespace n on n.oid = ${from}.${namespace} where ${OWN_SCHEMAS} and ${notOfExtension(catalog, `${from}.oid`)}`;

/**
 * How many rights others than the owners have, beyond those that every new object gives: a right of
 * one role, or PUBLIC, on one table, column, sequence, schema, function, type or foreign server, on
 * the database, or by default privileges. The same counts in a source and in its copy, whichever
 * roles the server has: rights of owners do not count, nor those of PUBLIC on the schema `public`,
 * which depend on the version. Large objects are left out: of many, their rights are in no list.
 */
export const COUNT_GRANTS = `
  with list(acl, kind, owner, passes_public) as (
    select c.relacl, (case c.relkind when 'S' then 's' else 'r' end)::"char", c.relowner, false ${OWN("c", "pg_class", "relnamespace")} and c.relkind in ('r', 'p', 'f', 'm', 'v', 'S')
    union all
    select a.attacl, 'c', c.relowner, false from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where a.attacl is not null and not a.attisdropped and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
    union all
    select n.nspacl, 'n', n.nspowner, n.nspname = 'public' from pg_namespace n where ${OWN_SCHEMAS} and ${notOfExtension("pg_namespace", "n.oid")}
    union all
    select p.proacl, 'f', p.proowner, false ${OWN("p", "pg_proc", "pronamespace")}
    union all
    select t.typacl, 'T', t.typowner, false ${OWN("t", "pg_type", "typnamespace")}
    union all
    select v.srvacl, 'S', v.srvowner, false from pg_foreign_server v where ${notOfExtension("pg_foreign_server", "v.oid")}
    union all
    select d.defaclacl, (case d.defaclobjtype when 'S' then 's' else d.defaclobjtype end)::"char", d.defaclrole, false from pg_default_acl d where d.defaclobjtype in ('r', 'S', 'f', 'T', 'n')
    union all
    select datacl, 'd', datdba, false from pg_database where datname = current_database()
  )
  select json_build_array(coalesce(sum((select count(distinct (a.grantee, a.privilege_type)) from aclexplode(l.acl) a
    where a.grantee <> l.owner and not (l.passes_public and a.grantee = 0) and pg_get_userbyid(a.grantee) <> '${LOADING_ROLE}'
      and not exists (select from aclexplode(acldefault(l.kind, l.owner)) d where d.grantee = a.grantee and d.privilege_type = a.privilege_type))), 0)::text)
  from list l where l.acl is not null`;

export function grantsIn(output: string): number {
  const [[count = "0"] = []] = rowsOf(output);
  return Number(count);
}
