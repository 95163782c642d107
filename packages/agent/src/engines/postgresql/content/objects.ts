import type { ObjectsWords } from "../../../checks/index.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { quotedName, unquotedName } from "../../quoted-name.ts";
import { asReadBack } from "../printed/printed-sql.ts";
import { FIRST_OWN_OID, notOfExtension, OWN_SCHEMAS, rowsOf, SORTED } from "../schema.ts";

/**
 * The definition of this kind is a value. Only the dump knows it, because a sequence changes even
 * while a snapshot is held.
 */
export const SEQUENCE_VALUE = "sequence_value";

/**
 * The name of a sequence in the kinds of its values. A full stop in a name is no other than the one
 * between two, so such names are in quotes. Before the fifth version they were not.
 */
export function sequenceName(schema: string, sequence: string): string {
  return isDotted(schema) || isDotted(sequence)
    ? `${quotedName(schema)}.${quotedName(sequence)}`
    : `${schema}.${sequence}`;
}

const isDotted = (name: string): boolean => name.includes(".");

/** The same in SQL. */
export const SEQUENCE_NAME = (schema: string, sequence: string): string =>
  `case when strpos(${schema} || ${sequence}, '.') = 0 then ${schema} || '.' || ${sequence} else
    format('"%s"."%s"', replace(${schema}, '"', '""'), replace(${sequence}, '"', '""')) end`;

/** The objects with the names of sequences as before the fifth version. */
export function withEarlierNames(objects: readonly DatabaseObject[]): readonly DatabaseObject[] {
  return objects.map((object) => {
    const [, schema, sequence] = object.kind.startsWith("sequence_") ? (QUOTED.exec(object.name) ?? []) : [];
    if (schema === undefined || sequence === undefined) return object;
    const [namespace, name] = [unquotedName(schema), unquotedName(sequence)];
    return isDotted(namespace) || isDotted(name) ? { ...object, name: `${namespace}.${name}` } : object;
  });
}

const QUOTED = /^("(?:[^"]|"")+")\.("(?:[^"]|"")+")$/;

export const OWN_RELATION = (kinds: string): string =>
  `c.relkind in (${kinds}) and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}`;

/**
 * A column's options, without the one that PostgreSQL 17.12 writes into every column itself. A dump
 * does not have that one.
 */
const OPTIONS =
  "(select array_agg(o order by at) from unnest(a.attoptions) with ordinality own(o, at) where o not like 'pg!_attver=%' escape '!')";

/**
 * A dump names the check option of a view apart from its other options, and a restore puts it last.
 */
const VIEW_OPTIONS =
  "(select array_agg(o order by o like 'check_option=%', at) from unnest(r.reloptions) with ordinality own(o, at))";

/**
 * A comment `d` that no dump has: pg_dump leaves out what a table gets from its parents, and what
 * the server makes along with a constraint trigger, a type or a view, with the comments on it.
 */
export const IS_UNDUMPED = `(case d.classoid
    when 'pg_constraint'::regclass then exists (select from pg_constraint c where c.oid = d.objoid and (c.contype = 't' or (c.contype in ('c', 'n') and c.conrelid <> 0 and not c.conislocal) or (c.contype = 'f' and c.conparentid <> 0)))
    when 'pg_trigger'::regclass then exists (select from pg_trigger t where t.oid = d.objoid and (t.tgisinternal or coalesce(to_jsonb(t)->>'tgparentid', '0') <> '0'))
    when 'pg_rewrite'::regclass then exists (select from pg_rewrite w where w.oid = d.objoid and w.rulename = '_RETURN')
    when 'pg_proc'::regclass then exists (select from pg_depend i where i.classid = d.classoid and i.objid = d.objoid and i.deptype = 'i')
    when 'pg_type'::regclass then exists (select from pg_type t left join pg_class c on c.oid = t.typrelid where t.oid = d.objoid
      and (c.relkind <> 'c' or t.typtype = 'm' or exists (select from pg_type e where e.typarray = t.oid)))
    else false end)`;

/**
 * The options of a dictionary: `stopwords = 'english'`. Whether their names have quotes depends on
 * `quote_all_identifiers` of the session that created it, in a copy that of the restore.
 */
const DICTIONARY_OPTIONS = `(
  select case when string_agg(o[1] || ' = ' || o[2], ', ' order by at) = t.dictinitoption
    then string_agg(case when o[1] ~ '^"[a-z_][a-z0-9_]*"$' then btrim(o[1], '"') else o[1] end || ' = ' || o[2], ', ' order by at) else t.dictinitoption end
  from regexp_matches(t.dictinitoption, '("(?:[^"]|"")*"|[^ =,"]+) = (E?''(?:[^'']|'''')*''|[^'', ]+)', 'g') with ordinality own(o, at))`;

export const LISTING =
  "select json_build_array(kind, name, encode(sha256(convert_to(exact::text, 'UTF8')), 'hex'), coalesce(printed, '')) from object";

/** What a final function may change: without such a function, a dump has the default. */
const MODIFY = (modify: string, final: string): string =>
  `case when a.${final}::oid <> 0 then a.${modify}::text when a.aggkind = 'n' then 'r' when a.aggkind <> 'n' then 'w' end`;

/** The roles of a list of oids, by name. PUBLIC has the oid 0; a role may have that name too. */
const ROLES = (oids: string): string =>
  `(select json_agg(case when role = 0 then 'PUBLIC' when rolname = 'PUBLIC' then '"PUBLIC"' else rolname end order by rolname) from unnest(${oids}) role left join pg_roles on pg_roles.oid = role)`;

/**
 * Each row is a JSON array: kind, name, SHA-256 of a JSON array that must come back as it is, and
 * text as the server prints it, which is compared in the form of `asReadBack`. It leaves out
 * objects that only a newer version's catalogue has. It also leaves out what a table gets from its
 * parents, because that follows from theirs and the server chooses its names.
 */
const OBJECTS = (sequenceValue: string, listing = LISTING): string => `
  with relation as (
    select c.*, format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN_RELATION("'r', 'p', 'f', 'm', 'v', 'S'")}
  ), object(kind, name, exact, printed) as (
    select case relkind when 'v' then 'view' else 'materialized_view' end, name,
      json_build_array(case when relkind = 'm' then relispopulated end, ${VIEW_OPTIONS}, (select amname from pg_am where oid = r.relam)), pg_get_viewdef(oid)
    from relation r where relkind in ('v', 'm')
    union all
    select 'table', name, json_build_array(relkind, relpersistence, relreplident, relrowsecurity, relforcerowsecurity, reloptions,
      (select t.reloptions from pg_class t where t.oid = r.reltoastrelid), (select amname from pg_am where oid = r.relam), r.reloftype::regtype::text,
      (select json_agg(inhparent::regclass::text order by inhseqno) from pg_inherits where inhrelid = r.oid)),
      concat(pg_get_partkeydef(oid), ' ; ', pg_get_expr(relpartbound, oid))
    from relation r where relkind in ('r', 'p', 'f')
    union all
    select 'column', format('%s.%I', r.name, a.attname),
      json_build_array(a.attstorage, to_jsonb(a)->>'attcompression', to_jsonb(a)->>'attstattarget', ${OPTIONS}, ${SORTED("a.attfdwoptions")}), ''
    from relation r join pg_attribute a on a.attrelid = r.oid join pg_type t on t.oid = a.atttypid
    where a.attnum > 0 and not a.attisdropped and (a.attstorage <> t.typstorage or coalesce(to_jsonb(a)->>'attcompression', '') <> ''
      or coalesce((to_jsonb(a)->>'attstattarget')::int, -1) <> -1 or ${OPTIONS} is not null or a.attfdwoptions is not null)
    union all
    select 'index', format('%I.%I', n.nspname, i.relname), json_build_array(x.indisvalid, x.indisclustered, x.indisreplident,
      (select json_agg(inhparent::regclass::text) from pg_inherits where inhrelid = i.oid)), pg_get_indexdef(i.oid)
    from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = i.relnamespace
    where x.indisvalid or i.relkind = 'I'
    union all
    select 'constraint', format('%s.%I', r.name, c.conname), json_build_array(c.convalidated), pg_get_constraintdef(c.oid)
    from relation r join pg_constraint c on c.conrelid = r.oid where c.contype not in ('n', 't') and c.conislocal and not (c.contype = 'f' and c.conparentid <> 0)
    union all
    select 'constraint', format('%I.%I.%I', n.nspname, t.typname, c.conname), json_build_array(c.convalidated), pg_get_constraintdef(c.oid)
    from pg_constraint c join pg_type t on t.oid = c.contypid join pg_namespace n on n.oid = t.typnamespace
    where c.contype = 'c' and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'trigger', format('%s.%I', r.name, t.tgname), json_build_array(t.tgenabled), pg_get_triggerdef(t.oid)
    from relation r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal and coalesce(to_jsonb(t)->>'tgparentid', '0') = '0'
    union all
    select 'rule', format('%s.%I', r.name, w.rulename), json_build_array(w.ev_enabled), pg_get_ruledef(w.oid)
    from relation r join pg_rewrite w on w.ev_class = r.oid where w.rulename <> '_RETURN'
    union all
    select 'policy', format('%s.%I', r.name, p.polname), json_build_array(p.polcmd, p.polpermissive, ${ROLES("p.polroles")}),
      concat('using (', pg_get_expr(p.polqual, p.polrelid), ') with check (', pg_get_expr(p.polwithcheck, p.polrelid), ')')
    from relation r join pg_policy p on p.polrelid = r.oid
    union all
    select 'event_trigger', quote_ident(evtname), json_build_array(evtevent, evtfoid::regprocedure::text, evtenabled, evttags), ''
    from pg_event_trigger e where ${notOfExtension("pg_event_trigger", "e.oid")}
    union all
    select 'function', p.oid::regprocedure::text, json_build_array(p.prokind, a.aggkind, a.aggnumdirectargs, a.aggtransfn::regprocedure::text,
      a.aggfinalfn::regprocedure::text, a.aggcombinefn::regprocedure::text, a.aggserialfn::regprocedure::text, a.aggdeserialfn::regprocedure::text,
      a.aggmtransfn::regprocedure::text, a.aggminvtransfn::regprocedure::text, a.aggmfinalfn::regprocedure::text, ${MODIFY("aggfinalmodify", "aggfinalfn")}, ${MODIFY("aggmfinalmodify", "aggmfinalfn")},
      a.aggsortop::regoperator::text, format_type(a.aggtranstype, null), format_type(a.aggmtranstype, null), a.agginitval, a.aggminitval, p.proparallel),
      case when p.prokind <> 'a' then pg_get_functiondef(p.oid) else pg_get_function_arguments(p.oid) end
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace left join pg_aggregate a on a.aggfnoid = p.oid
    where ${OWN_SCHEMAS} and ${notOfExtension("pg_proc", "p.oid")}
    union all
    select 'sequence', r.name, json_build_array(format_type(s.seqtypid, null), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle, r.relpersistence,
      (select format('%s.%I', a.attrelid::regclass, a.attname) from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
       where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i') and d.refobjsubid > 0)), ''
    from relation r join pg_sequence s on s.seqrelid = r.oid
    union all
    select '${SEQUENCE_VALUE}', ${SEQUENCE_NAME("n.nspname", "r.relname")}, json_build_array(${sequenceValue}), ''
    from relation r join pg_namespace n on n.oid = r.relnamespace where r.relkind = 'S'
    union all
    select 'statistics', format('%I.%I', n.nspname, x.stxname), json_build_array(coalesce(to_jsonb(x)->>'stxstattarget', '-1')), pg_get_statisticsobjdef(x.oid)
    from pg_statistic_ext x join pg_namespace n on n.oid = x.stxnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_statistic_ext", "x.oid")}
    union all
    select 'type', format('%I.%I', n.nspname, t.typname), json_build_array(t.typtype, format_type(t.typbasetype, t.typtypmod), t.typnotnull,
      case when t.typtype = 'd' then t.typcollation::regcollation::text end, (select json_agg(enumlabel order by enumsortorder) from pg_enum where enumtypid = t.oid),
      format_type(g.rngsubtype, null), g.rngcollation::regcollation::text, g.rngcanonical::text, g.rngsubdiff::text,
      (select json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attcollation::regcollation::text) order by attnum)
       from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)), coalesce(pg_get_expr(t.typdefaultbin, 0), '')
    from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid and c.relkind = 'c' left join pg_range g on g.rngtypid = t.oid
    where (c.oid is not null or g.rngtypid is not null or t.typtype in ('d', 'e')) and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'operator', o.oid::regoperator::text, json_build_array(o.oprcode::text, o.oprcom::regoperator::text, o.oprnegate::regoperator::text,
      o.oprrest::text, o.oprjoin::text, o.oprcanmerge, o.oprcanhash), '' from pg_operator o join pg_namespace n on n.oid = o.oprnamespace
    where ${OWN_SCHEMAS} and ${notOfExtension("pg_operator", "o.oid")}
    union all
    select 'cast', concat_ws(' as ', castsource::regtype, casttarget::regtype), json_build_array(castfunc::regprocedure::text, castcontext, castmethod), ''
    from pg_cast c where c.oid >= ${FIRST_OWN_OID} and ${notOfExtension("pg_cast", "c.oid")}
    union all
    select 'collation', format('%I.%I', n.nspname, c.collname), json_build_array(to_jsonb(c) - '{oid,collnamespace,collowner,collversion}'::text[]), ''
    from pg_collation c join pg_namespace n on n.oid = c.collnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_collation", "c.oid")}
    union all
    select 'text_search', format('%I.%I', n.nspname, c.cfgname), json_build_array((select prsname from pg_ts_parser where oid = c.cfgparser),
      (select json_agg(json_build_array(maptokentype, mapseqno, mapdict::regdictionary::text) order by maptokentype, mapseqno) from pg_ts_config_map where mapcfg = c.oid)), ''
    from pg_ts_config c join pg_namespace n on n.oid = c.cfgnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_ts_config", "c.oid")}
    union all
    select 'text_search', format('%I.%I (dictionary)', n.nspname, t.dictname),
      json_build_array((select tmplname from pg_ts_template where oid = t.dicttemplate), ${DICTIONARY_OPTIONS}), ''
    from pg_ts_dict t join pg_namespace n on n.oid = t.dictnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_ts_dict", "t.oid")}
    union all
    select 'foreign_table', r.name, json_build_array(s.srvname, ${SORTED("f.ftoptions")}), ''
    from relation r join pg_foreign_table f on f.ftrelid = r.oid join pg_foreign_server s on s.oid = f.ftserver
    union all
    select 'foreign_server', quote_ident(s.srvname), json_build_array(w.fdwname, s.srvtype, s.srvversion, ${SORTED("s.srvoptions")}), ''
    from pg_foreign_server s join pg_foreign_data_wrapper w on w.oid = s.srvfdw where ${notOfExtension("pg_foreign_server", "s.oid")}
    union all
    select 'comment', concat_ws(' ', of.type, of.identity), json_build_array(d.description), ''
    from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) of
    where d.objoid >= ${FIRST_OWN_OID} and d.classoid not in ('pg_extension'::regclass, 'pg_publication'::regclass, 'pg_subscription'::regclass)
      and of.identity is not null and (of.type, of.identity) <> ('schema', 'public')
      and not exists (select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and e.deptype = 'e') and not ${IS_UNDUMPED}
    union all
    select 'extension', quote_ident(x.extname), json_build_array(n.nspname), '' from pg_extension x join pg_namespace n on n.oid = x.extnamespace
    union all
    select 'large_objects', '', json_build_array(string_agg(oid::text, ' ' order by oid)), '' from pg_largeobject_metadata having count(*) > 0
  )
  ${listing}`;

/** At the source. Sequences have no values here. */
export const SOURCE_OBJECTS = OBJECTS("''");
/** In a restored copy. A sequence that was never used has no value. */
export const RESTORED_OBJECTS = OBJECTS("coalesce(pg_sequence_last_value(r.oid)::text, '')");

/**
 * Kinds, each with the number of its objects as text. Every database has the extension plpgsql from
 * its beginning.
 */
export const OBJECT_KINDS = OBJECTS(
  "''",
  `select json_build_array(kind, count(*)::text) from object
   where kind <> 'large_objects' and (kind, name) <> ('extension', 'plpgsql') group by kind
   union all select json_build_array('large_object', count(*)::text) from pg_largeobject_metadata`,
);

/**
 * Kinds and names of what `SCHEMA_LISTING` does not have. The server evaluates nothing else of the
 * listing for it.
 */
export const OBJECT_NAMES = OBJECTS(
  "''",
  `select json_build_array(kind, name) from object
   where kind in ('trigger', 'rule', 'policy', 'event_trigger', 'function', 'statistics', 'operator', 'cast', 'collation', 'text_search', 'foreign_server')
     or (kind = 'type' and exact->>0 not in ('d', 'e'))
   union all select json_build_array('row_security', name) from relation where relrowsecurity
   union all select json_build_array('publication', quote_ident(pubname)) from pg_publication`,
);

export function databaseObjects(output: string): DatabaseObject[] {
  return rowsOf(output).map(([kind = "", name = "", exact = "", printed = ""]) => ({
    kind,
    name,
    definition: `${exact} ${asReadBack(printed)}`,
  }));
}

/** For people, in the definition of the check. */
export const OBJECTS_WORDS: ObjectsWords = {
  query: "the definition of each index, constraint, trigger, function, view and so on",
  hint: "compare what pg_dump --schema-only prints of both",
};
