import type { ObjectsWords } from "../../../checks/index.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import { EXTENSION_GRANTS_KIND, SYSTEM_GRANTS_KIND } from "./others-grants.ts";
import { notOfExtension, OWN_SCHEMAS, rowsOf, SORTED } from "../schema.ts";

/**
 * The grants of an object, as JSON: whether the grantee is the owner, the grantee's name, the
 * privilege, whether it may be granted on, and the grantor's name. The owner is never named. An
 * object without grants of its own has the default grants of its kind.
 */
const GRANTS = (acl: string, kind: string, owner: string): string => `(
  select json_agg(json_build_array(a.grantee = ${owner}, case when a.grantee not in (0, ${owner}) then pg_get_userbyid(a.grantee) end, a.privilege_type, a.is_grantable,
    case when a.grantor <> ${owner} then pg_get_userbyid(a.grantor) end) order by a.grantee = ${owner}, pg_get_userbyid(a.grantee), a.grantee = 0, a.privilege_type, pg_get_userbyid(a.grantor))
  from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) a)`;

/** Columns with grants of their own. */
const OF_COLUMNS = `(select json_agg(json_build_array(attname, ${GRANTS("attacl", "c", "c.relowner")}) order by attname)
  from pg_attribute where attrelid = c.oid and attacl is not null and not attisdropped)`;

/**
 * The schema `public` as a new database has it. A dump does not mention it, nor a schema `public`
 * that the source has dropped and the copy has again.
 */
const IS_NEW_PUBLIC = `(n.nspname = 'public' and (
  select array_agg(concat_ws(' ', case a.grantee when 0 then 'public' when n.nspowner then 'owner' else 'other' end, a.privilege_type, a.is_grantable) order by a.grantee <> 0, a.privilege_type)
  from aclexplode(n.nspacl) a
) = case when current_setting('server_version_num')::int < 150000 then array['public CREATE f'] else '{}' end || array['public USAGE f', 'owner CREATE f', 'owner USAGE f'])`;

const OWN = (from: string, catalog: string, namespace: string): string =>
  `from ${catalog} ${from} join pg_namespace n on n.oid = ${from}.${namespace} where ${OWN_SCHEMAS} and ${notOfExtension(catalog, `${from}.oid`)}`;

/** Functions that make a range belong to the server's first superuser, and no dump has them. */
const OF_TYPES_KIND = "type_function_privileges";
/** Those with grants of their own, which no dump has either. */
const OF_TYPES_GRANTED_KIND = "type_function_grants";
const IS_OF_TYPE = `exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'i')`;
const LARGE_OBJECTS_KIND = "large_object_privileges";
const PUBLIC_KIND = "schema_owner";
const CONVERSIONS_KIND = "conversion_owner";
/** As whom a role is known to a foreign server, with its password. Only a superuser sees all. */
const MAPPINGS_KIND = "user_mapping_options";
/** Of the database itself. */
const DATABASE_OWNER_KIND = "database_owner";
const DATABASE_GRANTS_KIND = "database_grants";
/** Each is locked until all are compared. */
const MAX_LARGE_OBJECTS = 1_000;

/** The version of `content.privileges` from which on each kind is listed, where that is not 2. */
const SINCE: ReadonlyMap<string, number> = new Map([
  [LARGE_OBJECTS_KIND, 3],
  [PUBLIC_KIND, 3],
  [CONVERSIONS_KIND, 5],
  [MAPPINGS_KIND, 5],
  [DATABASE_OWNER_KIND, 6],
  [DATABASE_GRANTS_KIND, 7],
  [SYSTEM_GRANTS_KIND, 8],
  [EXTENSION_GRANTS_KIND, 8],
]);

/** The kinds that a version of `content.privileges` does not list. */
export function unlistedBy(version: number): readonly string[] {
  return [...SINCE].flatMap(([kind, since]) => (since > version ? [kind] : []));
}

/** Whether only the first three versions have it, although its owner depends on the server. */
export function isOfType({ kind }: DatabaseObject): boolean {
  return kind === OF_TYPES_KIND || kind === OF_TYPES_GRANTED_KIND;
}

/** Whether somebody granted or revoked it, which is lost with any dump. */
export function isGrantOfType({ kind }: DatabaseObject): boolean {
  return kind === OF_TYPES_GRANTED_KIND;
}

/**
 * Of the listed objects, those whose owners and grants a restore test finds in the dump. pg_dump 17
 * and later write those of large objects between the data, where a restore test does not look.
 */
export function dumpedPrivileges(
  listed: readonly DatabaseObject[],
  dumpMajor: number,
): readonly DatabaseObject[] {
  return listed.filter((each) => !isOfType(each) && (dumpMajor < 17 || !isOfLargeObject(each)));
}

export function isOfLargeObject({ kind }: DatabaseObject): boolean {
  return kind === LARGE_OBJECTS_KIND;
}

/** For `left_out` of the metadata. */
export const LARGE_OBJECTS_LEFT_OUT = [LARGE_OBJECTS_KIND, null] as const;
export const TYPE_GRANTS_LEFT_OUT = [OF_TYPES_GRANTED_KIND, null] as const;

export const HAS_LARGE_OBJECTS = "select json_build_array(exists (select from pg_largeobject_metadata))";

/**
 * Each row is a JSON array: kind, name, and the SHA-256 of a JSON array of the owner and the
 * grants. If the schema `public` has the grants of a new database, only its owner is listed: from
 * PostgreSQL 15 on, and only if somebody set it, because an older dump does not name it. An
 * extension's objects are not listed, nor are more than 1,000 large objects, nor operators that are
 * only named by others, whose owner no dump has. The database's own name is not compared, because a
 * copy has another one.
 */
export const LIST_PRIVILEGES = `
  with object(kind, name, exact) as (
    select 'privileges', format('%s %I.%I', case c.relkind when 'S' then 'sequence' else 'table' end, n.nspname, c.relname),
      json_build_array(pg_get_userbyid(c.relowner), case when c.relkind = 'S' then ${GRANTS("c.relacl", "s", "c.relowner")} else ${GRANTS("c.relacl", "r", "c.relowner")} end, ${OF_COLUMNS})
    ${OWN("c", "pg_class", "relnamespace")} and c.relkind in ('r', 'p', 'f', 'm', 'v', 'S')
    union all
    select 'privileges', format('schema %I', n.nspname), json_build_array(case when n.nspname <> 'public' then pg_get_userbyid(n.nspowner) end, ${GRANTS("n.nspacl", "n", "n.nspowner")})
    from pg_namespace n where ${OWN_SCHEMAS} and ${notOfExtension("pg_namespace", "n.oid")} and ${IS_NEW_PUBLIC} is not true
    union all
    select case when not ${IS_OF_TYPE} then 'privileges' when p.proacl is null then '${OF_TYPES_KIND}' else '${OF_TYPES_GRANTED_KIND}' end, format('function %s', p.oid::regprocedure), json_build_array(pg_get_userbyid(p.proowner), ${GRANTS("p.proacl", "f", "p.proowner")})
    ${OWN("p", "pg_proc", "pronamespace")}
    union all
    select 'privileges', format('type %I.%I', n.nspname, t.typname), json_build_array(pg_get_userbyid(t.typowner), ${GRANTS("t.typacl", "T", "t.typowner")})
    ${OWN("t", "pg_type", "typnamespace")} and t.typtype in ('b', 'd', 'e', 'r', 'c') and not exists (select from pg_type e where e.typarray = t.oid)
      and (t.typrelid = 0 or (select relkind = 'c' from pg_class where oid = t.typrelid))
    union all
    select 'privileges', format('operator %s', o.oid::regoperator), json_build_array(pg_get_userbyid(o.oprowner)) ${OWN("o", "pg_operator", "oprnamespace")} and o.oprcode <> 0
    union all
    select 'privileges', format('collation %I.%I', n.nspname, l.collname), json_build_array(pg_get_userbyid(l.collowner)) ${OWN("l", "pg_collation", "collnamespace")}
    union all
    select 'privileges', format('text search configuration %I.%I', n.nspname, x.cfgname), json_build_array(pg_get_userbyid(x.cfgowner)) ${OWN("x", "pg_ts_config", "cfgnamespace")}
    union all
    select 'privileges', format('text search dictionary %I.%I', n.nspname, w.dictname), json_build_array(pg_get_userbyid(w.dictowner)) ${OWN("w", "pg_ts_dict", "dictnamespace")}
    union all
    select 'privileges', format('statistics %I.%I', n.nspname, s.stxname), json_build_array(pg_get_userbyid(s.stxowner)) ${OWN("s", "pg_statistic_ext", "stxnamespace")}
    union all
    select 'privileges', format('server %I', v.srvname), json_build_array(pg_get_userbyid(v.srvowner), ${GRANTS("v.srvacl", "S", "v.srvowner")})
    from pg_foreign_server v where ${notOfExtension("pg_foreign_server", "v.oid")}
    union all
    select 'default_privileges', concat_ws(' ', quote_ident(pg_get_userbyid(d.defaclrole)), d.defaclobjtype, quote_ident(n.nspname)), json_build_array(
      (select json_agg(json_build_array(a.grantee = d.defaclrole, case when a.grantee not in (0, d.defaclrole) then pg_get_userbyid(a.grantee) end, a.privilege_type, a.is_grantable)
         order by a.grantee = 0, pg_get_userbyid(a.grantee), a.privilege_type) from aclexplode(d.defaclacl) a))
    from pg_default_acl d left join pg_namespace n on n.oid = d.defaclnamespace
    union all
    select '${LARGE_OBJECTS_KIND}', l.oid::text, json_build_array(pg_get_userbyid(l.lomowner), ${GRANTS("l.lomacl", "L", "l.lomowner")})
    from pg_largeobject_metadata l where (select count(*) from pg_largeobject_metadata) <= ${MAX_LARGE_OBJECTS}
    union all
    select '${CONVERSIONS_KIND}', format('%I.%I', n.nspname, v.conname), json_build_array(pg_get_userbyid(v.conowner)) ${OWN("v", "pg_conversion", "connamespace")}
    union all
    select '${MAPPINGS_KIND}', concat_ws(' ', quote_ident(u.usename), quote_ident(u.srvname)), json_build_array(${SORTED("u.umoptions")})
    from pg_user_mappings u where ${notOfExtension("pg_foreign_server", "u.srvid")}
    union all
    select '${DATABASE_OWNER_KIND}', '', json_build_array(pg_get_userbyid(datdba)) from pg_database where datname = current_database()
    union all
    select '${DATABASE_GRANTS_KIND}', '', json_build_array(${GRANTS("datacl", "d", "datdba")}) from pg_database where datname = current_database()
    union all
    select '${PUBLIC_KIND}', 'public', json_build_array(pg_get_userbyid(n.nspowner)) from pg_namespace n
    where n.nspname = 'public' and current_setting('server_version_num')::int >= 150000 and pg_get_userbyid(n.nspowner) not in ('pg_database_owner', '${LOADING_ROLE}')
  )
  select json_build_array(kind, name, encode(sha256(convert_to(exact::text, 'UTF8')), 'hex')) from object`;

export function privilegesOf(output: string): DatabaseObject[] {
  return rowsOf(output).map(([kind = "", name = "", definition = ""]) => ({ kind, name, definition }));
}

/** For people, in the definition of the check. */
export const PRIVILEGES_WORDS: ObjectsWords = {
  query:
    "the owner and the grants of the database and of each table, schema, function and so on, as the dump gives them",
  hint: "compare the lines with OWNER TO, GRANT and REVOKE that pg_dump --schema-only prints of both",
};
