import { createHash } from "node:crypto";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import { isTimedOut, ownOutput } from "../copy/query-copy.ts";
import { FIRST_OWN_OID, notOfExtension, OWN_SCHEMAS, rowsOf, SORTED } from "../schema.ts";
import { databaseObjects, IS_UNDUMPED, LISTING, OWN_RELATION, SEQUENCE_NAME } from "./objects.ts";

/**
 * What the third version of `content.objects` lists besides `objects.ts`, and the fourth and the
 * fifth more.
 */

/** The definition of this kind is the next value of a sequence that gave none yet. */
export const SEQUENCE_START = "sequence_start";
/** No dump has these: a test says that there are some, and compares none. The texts are shown. */
const UNDUMPED: ReadonlyMap<string, string> = new Map([
  ["undumped_comment", "comments that no dump has"],
  ["undumped_trigger", "switched off triggers of constraints that no dump has"],
  ["undumped_index", "invalid indexes that no dump has"],
  ["undumped_detaching", "partitions whose detaching did not end, which no dump has"],
  ["undumped_statistics", "statistics targets of exclusion constraints that no dump has"],
  ["undumped_object", "objects in pg_catalog or information_schema that no dump has"],
]);

/** What a test says of such a kind; null for any other. */
export function undumpedText(kind: string): string | null {
  return UNDUMPED.get(kind) ?? null;
}

/** Somebody made them in a schema of the server, which pg_dump leaves out. */
const IN_SERVERS_SCHEMA = (from: string, catalog: string, namespace: string): string =>
  `from ${catalog} ${from} where ${from}.oid >= ${FIRST_OWN_OID} and ${from}.${namespace} in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and ${notOfExtension(catalog, `${from}.oid`)}`;

const OWN = (from: string, catalog: string, namespace: string): string =>
  `from ${catalog} ${from} join pg_namespace n on n.oid = ${from}.${namespace} where ${OWN_SCHEMAS} and ${notOfExtension(catalog, `${from}.oid`)}`;

/**
 * The digest of a table's content covers the order of its columns, but for generated ones. So only
 * tables with such columns, or without rows of their own, are listed for it. A restore gives a
 * table that inherits columns its parents' first. Most of the others only a superuser may create.
 * None has an expression that the server prints.
 */
export const MORE_OBJECTS = `
  with relation as (
    select c.*, format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN_RELATION("'r', 'p', 'f', 'm'")}
  ), object(kind, name, exact, printed) as (
    select 'column_order', name, json_build_array((select json_agg(attname order by attnum) from pg_attribute a where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped)), ''
    from relation r where relkind in ('p', 'f') and (relispartition or not exists (select from pg_inherits where inhrelid = r.oid))
    union all
    select 'generated_column_order', name, json_build_array((select json_agg(attname order by attnum) from pg_attribute a where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped)), ''
    from relation r where relkind = 'r' and (relispartition or not exists (select from pg_inherits where inhrelid = r.oid))
      and exists (select from pg_attribute a where a.attrelid = r.oid and a.attgenerated <> '' and not a.attisdropped)
    union all
    select 'index_column', format('%I.%I %s', n.nspname, i.relname, a.attnum), json_build_array(to_jsonb(a)->>'attstattarget'), ''
    from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = i.relnamespace join pg_attribute a on a.attrelid = i.oid
    where (x.indisvalid or i.relkind = 'I') and not x.indisexclusion and coalesce((to_jsonb(a)->>'attstattarget')::int, -1) <> -1
    union all
    select 'partition_trigger', format('%s.%I', r.name, t.tgname), json_build_array(t.tgenabled), ''
    from relation r join pg_trigger t on t.tgrelid = r.oid join pg_trigger p on p.oid = (to_jsonb(t)->>'tgparentid')::oid where t.tgenabled <> p.tgenabled and not p.tgisinternal
    union all
    select 'replica_identity', name, json_build_array(relreplident), '' from relation where relkind = 'm' and relreplident <> 'd'
    union all
    select 'aggregate', p.oid::regprocedure::text, json_build_array(a.aggtransspace, a.aggmtransspace, a.aggfinalextra, a.aggmfinalextra), ''
    from pg_aggregate a join pg_proc p on p.oid = a.aggfnoid join pg_namespace n on n.oid = p.pronamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_proc", "p.oid")}
    union all
    select 'comment', concat_ws(' ', 'large object', d.objoid), json_build_array(d.description), '' from pg_description d
    where d.classoid = 'pg_largeobject'::regclass and d.objoid < ${FIRST_OWN_OID}
    union all
    select 'undumped_comment', concat_ws(' ', of.type, of.identity), json_build_array(d.description), ''
    from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) of where d.objoid >= ${FIRST_OWN_OID} and ${IS_UNDUMPED}
      and not exists (select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and e.deptype = 'e')
    union all
    select 'undumped_trigger', format('%s.%I', r.name, c.conname), json_build_array(), ''
    from relation r join pg_constraint c on exists (select from pg_trigger t where t.tgrelid = r.oid and t.tgconstraint = c.oid and t.tgisinternal and t.tgenabled <> 'O')
    union all
    select 'undumped_index', i.relname::text, json_build_array(), '' from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
    where not x.indisvalid and i.relkind <> 'I'
    union all
    select 'undumped_detaching', r.name, json_build_array(), '' from relation r join pg_inherits i on i.inhrelid = r.oid where to_jsonb(i)->>'inhdetachpending' = 'true'
    union all
    select 'undumped_statistics', i.relname::text, json_build_array(), '' from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
    where x.indisexclusion and exists (select from pg_attribute a where a.attrelid = i.oid and coalesce((to_jsonb(a)->>'attstattarget')::int, -1) <> -1)
    union all
    select 'undumped_object', concat('function ', p.proname), json_build_array(), '' ${IN_SERVERS_SCHEMA("p", "pg_proc", "pronamespace")}
    union all
    select 'undumped_object', concat('relation ', c.relname), json_build_array(), '' ${IN_SERVERS_SCHEMA("c", "pg_class", "relnamespace")} and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    union all
    select 'not_null', format('%s.%I', r.name, c.conname), json_build_array((select attname from pg_attribute where attrelid = r.oid and attnum = c.conkey[1]), c.connoinherit, c.convalidated), ''
    from relation r join pg_constraint c on c.conrelid = r.oid where c.contype = 'n' and c.conislocal
    union all
    select 'toast_options', r.name, json_build_array(t.reloptions), '' from relation r join pg_class t on t.oid = r.reltoastrelid where r.relkind = 'm' and t.reloptions is not null
    union all
    select 'own_column', format('%s.%I', r.name, a.attname), json_build_array(), '' from relation r join pg_attribute a on a.attrelid = r.oid
    where not r.relispartition and a.attnum > 0 and not a.attisdropped and a.attislocal and a.attinhcount > 0
    union all
    select 'extension_dependency', concat_ws(' ', of.type, of.identity, 'on', quote_ident(x.extname)), json_build_array(), ''
    from pg_depend d join pg_extension x on x.oid = d.refobjid, pg_identify_object(d.classid, d.objid, d.objsubid) of where d.refclassid = 'pg_extension'::regclass and d.deptype = 'x'
    union all
    select 'schema_comment', 'public', json_build_array(d.description), ''
    from pg_namespace s join pg_description d on d.classoid = 'pg_namespace'::regclass and d.objoid = s.oid where s.nspname = 'public' and d.description not in ('standard public schema', '')
    union all
    select 'user_mapping', concat_ws(' ', quote_ident(u.usename), quote_ident(u.srvname)), json_build_array(), '' from pg_user_mappings u where ${notOfExtension("pg_foreign_server", "u.srvid")}
    union all
    select 'range', format('%I.%I', n.nspname, t.typname), json_build_array(ons.nspname, o.opcname), ''
    from pg_range g join pg_type t on t.oid = g.rngtypid join pg_namespace n on n.oid = t.typnamespace join pg_opclass o on o.oid = g.rngsubopc join pg_namespace ons on ons.oid = o.opcnamespace
    where ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'conversion', format('%I.%I', n.nspname, v.conname), json_build_array(pg_encoding_to_char(v.conforencoding), pg_encoding_to_char(v.contoencoding), v.conproc::regprocedure::text, v.condefault), ''
    ${OWN("v", "pg_conversion", "connamespace")}
    union all
    select 'operator_class', format('%I.%I using %s', n.nspname, o.opcname, (select amname from pg_am where oid = o.opcmethod)),
      json_build_array(o.opcintype::regtype::text, nullif(o.opckeytype, 0)::regtype::text, o.opcdefault, (select format('%I.%I', fns.nspname, f.opfname) from pg_opfamily f join pg_namespace fns on fns.oid = f.opfnamespace where f.oid = o.opcfamily)), ''
    ${OWN("o", "pg_opclass", "opcnamespace")}
    union all
    select 'operator_family', format('%I.%I using %s', n.nspname, f.opfname, (select amname from pg_am where oid = f.opfmethod)), json_build_array(
      (select json_agg(json_build_array(amoplefttype::regtype::text, amoprighttype::regtype::text, amopstrategy, amoppurpose, amopopr::regoperator::text) order by amopstrategy, amoplefttype::regtype::text, amoprighttype::regtype::text, amoppurpose) from pg_amop where amopfamily = f.oid),
      (select json_agg(json_build_array(amproclefttype::regtype::text, amprocrighttype::regtype::text, amprocnum, amproc::regprocedure::text) order by amprocnum, amproclefttype::regtype::text, amprocrighttype::regtype::text) from pg_amproc where amprocfamily = f.oid)), ''
    ${OWN("f", "pg_opfamily", "opfnamespace")}
    union all
    select 'text_search', format('%I.%I (parser)', n.nspname, s.prsname), json_build_array(s.prsstart::text, s.prstoken::text, s.prsend::text, s.prsheadline::text, s.prslextype::text), ''
    ${OWN("s", "pg_ts_parser", "prsnamespace")}
    union all
    select 'text_search', format('%I.%I (template)', n.nspname, s.tmplname), json_build_array(s.tmplinit::text, s.tmpllexize::text), ''
    ${OWN("s", "pg_ts_template", "tmplnamespace")}
    union all
    select 'language', quote_ident(l.lanname), json_build_array(l.lanpltrusted, l.lanplcallfoid::regprocedure::text, l.laninline::regprocedure::text, l.lanvalidator::regprocedure::text), ''
    from pg_language l where l.oid >= ${FIRST_OWN_OID} and ${notOfExtension("pg_language", "l.oid")}
    union all
    select 'transform', concat_ws(' for ', f.trftype::regtype::text, quote_ident(l.lanname)), json_build_array(f.trffromsql::regprocedure::text, f.trftosql::regprocedure::text), ''
    from pg_transform f join pg_language l on l.oid = f.trflang where ${notOfExtension("pg_transform", "f.oid")}
    union all
    select 'access_method', quote_ident(a.amname), json_build_array(a.amtype, a.amhandler::regproc::text), '' from pg_am a where a.oid >= ${FIRST_OWN_OID} and ${notOfExtension("pg_am", "a.oid")}
    union all
    select 'foreign_data_wrapper', quote_ident(w.fdwname), json_build_array(nullif(w.fdwhandler, 0)::regprocedure::text, nullif(w.fdwvalidator, 0)::regprocedure::text, ${SORTED("w.fdwoptions")}), ''
    from pg_foreign_data_wrapper w where ${notOfExtension("pg_foreign_data_wrapper", "w.oid")}
  )
  ${LISTING}`;

/** Those of these kinds that the fourth version does not list. */
const OF_FIFTH_VERSION: readonly string[] = ["generated_column_order"];

/** Those that the third version lists neither. */
const OF_FOURTH_VERSION: readonly string[] = [
  "not_null",
  "toast_options",
  "own_column",
  "extension_dependency",
  "schema_comment",
];

/** The kinds of these for people, if a source did not list them in time, or they changed. */
export const MORE_KINDS: readonly string[] = [
  "column_order",
  "index_column",
  "partition_trigger",
  "replica_identity",
  "aggregate",
  "user_mapping",
  "range",
  "conversion",
  "operator_class",
  "operator_family",
  "text_search_parser",
  "text_search_template",
  "language",
  "transform",
  "access_method",
  "foreign_data_wrapper",
  SEQUENCE_START,
  ...UNDUMPED.keys(),
  ...OF_FOURTH_VERSION,
  ...OF_FIFTH_VERSION,
];

/**
 * What code of the dump made a part of an extension, so that no other list has it. No dump has such
 * a statement. The parts that an extension's script makes belong to the server's superuser. Only a
 * language may be given to whoever creates its extension, as PL/Perl's is, and nobody but a
 * superuser makes one otherwise.
 */
const ADDED_TO_EXTENSIONS = `
  select json_build_array('extension_member', concat_ws(' ', of.type, of.identity), '', '')
  from pg_depend d join pg_extension x on x.oid = d.refobjid join pg_shdepend o on o.classid = d.classid and o.objid = d.objid and o.deptype = 'o',
    pg_identify_object(d.classid, d.objid, 0) of
  where d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and d.classid <> 'pg_language'::regclass and o.dbid = (select oid from pg_database where datname = current_database())
    and o.refclassid = 'pg_authid'::regclass and pg_get_userbyid(o.refobjid) = '${LOADING_ROLE}'
    and exists (select from pg_available_extension_versions v where v.name = x.extname and v.version = x.extversion and v.superuser)`;

/**
 * Queries for the values of the copy's sequences that were never used, 100 each: the server tells
 * them only to whoever reads the sequence itself. `offset 0`: the server asks none of them before
 * it has left out those of extensions, which the loading role may not read.
 */
const SEQUENCES_TO_READ = `
  select json_build_array(string_agg(format('select json_build_array(%L, last_value::text) from %I.%I where not is_called', ${SEQUENCE_NAME("nspname", "relname")}, nspname, relname), ' union all '))
  from (select own.*, row_number() over (order by own.oid) / 100 as part
    from (select n.nspname, c.relname, c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OWN_RELATION("'S'")} offset 0) own
    where pg_sequence_last_value(own.oid) is null) unused
  group by part`;

/**
 * All of these in a restored copy that such a version lists; null if the statement's time is not
 * enough.
 * @throws RunError, SessionEnded
 */
export async function moreRestored(
  session: PsqlSession,
  version: number,
): Promise<readonly DatabaseObject[] | null> {
  const listed = await session.run(MORE_OBJECTS);
  const unused = await session.run(SEQUENCES_TO_READ);
  const added = await session.run(ADDED_TO_EXTENSIONS);
  if ([listed, unused, added].some(isTimedOut)) return null;
  const starts: DatabaseObject[] = [];
  for (const [query = ""] of rowsOf(ownOutput(unused))) {
    const read = await session.runForeign(query);
    if (isTimedOut(read)) return null;
    for (const [name = "", value = ""] of rowsOf(ownOutput(read))) starts.push(sequenceStart(name, value));
  }
  const unlisted = new Set([
    ...UNDUMPED.keys(),
    ...(version < 4 ? OF_FOURTH_VERSION : []),
    ...(version < 5 ? OF_FIFTH_VERSION : []),
  ]);
  const objects = databaseObjects(ownOutput(listed)).filter(({ kind }) => !unlisted.has(kind));
  return [...objects, ...starts, ...databaseObjects(ownOutput(added))];
}

export function sequenceStart(name: string, value: string): DatabaseObject {
  return { kind: SEQUENCE_START, name, definition: valueDefinition(value) };
}

/** The definition of a value as the listings in SQL make it. */
export function valueDefinition(value: string): string {
  return `${createHash("sha256")
    .update(JSON.stringify([value]))
    .digest("hex")} `;
}
