import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import { notOfExtension, rowsOf } from "../schema.ts";

/** Of a source these are left out, each as a whole. A copy may have them only if its source has. */
export const SYSTEM_GRANTS_KIND = "grants_on_system_objects";
export const EXTENSION_GRANTS_KIND = "grants_on_extension_objects";

/**
 * Grants without those to the owner, whose name is another on each server, and to the role that
 * loads a dump.
 */
const OTHERS_GRANTS = (acl: string): string => `(
  select json_agg(json_build_array(a.grantee, a.privilege_type, a.is_grantable) order by a.grantee, a.privilege_type)::text from aclexplode(${acl}) a
  where a.grantee <> a.grantor and pg_get_userbyid(a.grantee) <> '${LOADING_ROLE}')`;

/** Whether the grants are others than the server was set up with; a null stands for these. */
const IS_CHANGED = (acl: string, kind: string, owner: string): string =>
  `${acl} is not null and ${OTHERS_GRANTS(acl)} is distinct from ${OTHERS_GRANTS(`coalesce(i.initprivs, acldefault('${kind}', ${owner}))`)}`;

const WITH_INITIAL = (catalog: string, oid: string, sub = "0"): string =>
  `left join pg_init_privs i on i.classoid = '${catalog}'::regclass and i.objoid = ${oid} and i.objsubid = ${sub}`;

const OF_SYSTEM = (catalog: string, oid: string, sub = "0"): string =>
  `${WITH_INITIAL(catalog, oid, sub)} where ${oid} < 16384`;

const OF_EXTENSION = (catalog: string, oid: string, sub = "0"): string =>
  `${WITH_INITIAL(catalog, oid, sub)} where not ${notOfExtension(catalog, oid)}`;

/**
 * Whether somebody granted or revoked something on the server's own objects, and on those of
 * extensions. A dump has such grants, but another server may lack the objects or the roles. It has
 * none on `information_schema`.
 */
export const HAS_OTHERS_GRANTS = `
  select json_build_array(
    exists (select from pg_proc p ${OF_SYSTEM("pg_proc", "p.oid")} and p.pronamespace = 'pg_catalog'::regnamespace and ${IS_CHANGED("p.proacl", "f", "p.proowner")})
    or exists (select from pg_class c ${OF_SYSTEM("pg_class", "c.oid")} and c.relnamespace = 'pg_catalog'::regnamespace and ${IS_CHANGED("c.relacl", "r", "c.relowner")})
    or exists (select from pg_attribute a join pg_class c on c.oid = a.attrelid ${OF_SYSTEM("pg_class", "c.oid", "a.attnum")} and c.relnamespace = 'pg_catalog'::regnamespace and ${IS_CHANGED("a.attacl", "c", "c.relowner")})
    or exists (select from pg_language l ${OF_SYSTEM("pg_language", "l.oid")} and ${IS_CHANGED("l.lanacl", "l", "l.lanowner")})
    or exists (select from pg_type t ${OF_SYSTEM("pg_type", "t.oid")} and t.typnamespace = 'pg_catalog'::regnamespace and ${IS_CHANGED("t.typacl", "T", "t.typowner")})
    or exists (select from pg_namespace n ${OF_SYSTEM("pg_namespace", "n.oid")} and n.nspname = 'pg_catalog' and ${IS_CHANGED("n.nspacl", "n", "n.nspowner")}),
    exists (select from pg_proc p ${OF_EXTENSION("pg_proc", "p.oid")} and ${IS_CHANGED("p.proacl", "f", "p.proowner")})
    or exists (select from pg_class c ${OF_EXTENSION("pg_class", "c.oid")} and c.relkind <> 'S' and ${IS_CHANGED("c.relacl", "r", "c.relowner")})
    or exists (select from pg_class c ${OF_EXTENSION("pg_class", "c.oid")} and c.relkind = 'S' and ${IS_CHANGED("c.relacl", "s", "c.relowner")})
    or exists (select from pg_attribute a join pg_class c on c.oid = a.attrelid ${WITH_INITIAL("pg_class", "c.oid", "a.attnum")} where not ${notOfExtension("pg_class", "c.oid")} and ${IS_CHANGED("a.attacl", "c", "c.relowner")})
    or exists (select from pg_language l ${OF_EXTENSION("pg_language", "l.oid")} and l.oid >= 16384 and ${IS_CHANGED("l.lanacl", "l", "l.lanowner")})
    or exists (select from pg_type t ${OF_EXTENSION("pg_type", "t.oid")} and ${IS_CHANGED("t.typacl", "T", "t.typowner")})
    or exists (select from pg_namespace n ${OF_EXTENSION("pg_namespace", "n.oid")} and ${IS_CHANGED("n.nspacl", "n", "n.nspowner")})
    or exists (select from pg_foreign_data_wrapper w ${OF_EXTENSION("pg_foreign_data_wrapper", "w.oid")} and ${IS_CHANGED("w.fdwacl", "F", "w.fdwowner")}))`;

/** Of which of the two kinds there are some. */
export function othersGrantsOf(output: string): readonly string[] {
  const [[ofSystem, ofExtensions] = []] = rowsOf(output);
  return [
    ...(ofSystem === "true" ? [SYSTEM_GRANTS_KIND] : []),
    ...(ofExtensions === "true" ? [EXTENSION_GRANTS_KIND] : []),
  ];
}

/** What a dump granted or revoked of these two kinds. */
export function addedGrants(before: readonly string[], after: readonly string[]): DatabaseObject[] {
  return after.filter((kind) => !before.includes(kind)).map((kind) => ({ kind, name: "", definition: "" }));
}
