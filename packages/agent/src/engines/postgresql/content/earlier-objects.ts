import type { ExpectedObjects } from "../../content/compare-objects.ts";
import { type DatabaseObject, objectsDigest, taggedKinds } from "../../content/tagged-objects.ts";
import { notOfExtension, OWN_SCHEMAS, plain, rowsOf } from "../schema.ts";

/** Some of these backups do not list them. */
const EXTENSION = "extension";

const OWN_RELATION = (kinds: string): string =>
  `c.relkind in (${kinds}) and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}`;

/** Objects with oids from here on were created after the cluster. */
const FIRST_OWN_OID = 16_384;

/**
 * Lists a restored copy's objects as the first version of `content.objects` did, for backups that
 * have it. It may never change. It compares less exactly than `objects.ts`: expressions without
 * casts, parentheses and spaces.
 *
 * Each row is a JSON array: kind, name, SHA-256 of the part that must come back letter by letter,
 * and an expression as the server prints it. It leaves out owners, and objects that only a newer
 * version's catalogue has. It also leaves out what a table gets from its parents, because that
 * follows from theirs and the server chooses its names.
 */
export const EARLIER_OBJECTS = `
  with relation as (
    select c.*, format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN_RELATION("'r', 'p', 'f', 'm', 'v', 'S'")}
  ), object(kind, name, exact, expression) as (
    select case relkind when 'v' then 'view' else 'materialized_view' end, name,
      concat_ws(' ', case when relkind = 'm' then relispopulated end, array_to_string(reloptions, ' ')), pg_get_viewdef(oid)
    from relation where relkind in ('v', 'm')
    union all
    select 'table', name, concat_ws(' ', relkind, relreplident, relrowsecurity, relforcerowsecurity, array_to_string(reloptions, ' '),
      (select array_to_string(t.reloptions, ' ') from pg_class t where t.oid = r.reltoastrelid), (select amname from pg_am where oid = r.relam),
      (select json_agg(inhparent::regclass::text order by inhseqno) from pg_inherits where inhrelid = r.oid)), ''
    from relation r where relkind in ('r', 'p', 'f')
    union all
    select 'column', format('%s.%I', r.name, a.attname),
      concat_ws(' ', a.attstorage, to_jsonb(a)->>'attcompression', to_jsonb(a)->>'attstattarget', array_to_string(a.attoptions, ' '), array_to_string(a.attfdwoptions, ' ')), ''
    from relation r join pg_attribute a on a.attrelid = r.oid join pg_type t on t.oid = a.atttypid
    where a.attnum > 0 and not a.attisdropped and (a.attstorage <> t.typstorage or coalesce(to_jsonb(a)->>'attcompression', '') <> ''
      or coalesce((to_jsonb(a)->>'attstattarget')::int, -1) <> -1 or a.attoptions is not null or a.attfdwoptions is not null)
    union all
    select 'index', format('%I.%I', n.nspname, i.relname), concat_ws(' ', x.indisclustered, x.indisreplident), pg_get_indexdef(i.oid)
    from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = i.relnamespace where x.indisvalid
    union all
    select 'constraint', format('%s.%I', r.name, c.conname), c.convalidated::text, pg_get_constraintdef(c.oid)
    from relation r join pg_constraint c on c.conrelid = r.oid where c.contype not in ('n', 't') and c.conislocal and not (c.contype = 'f' and c.conparentid <> 0)
    union all
    select 'constraint', format('%I.%I.%I', n.nspname, t.typname, c.conname), c.convalidated::text, pg_get_constraintdef(c.oid)
    from pg_constraint c join pg_type t on t.oid = c.contypid join pg_namespace n on n.oid = t.typnamespace
    where c.contype = 'c' and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'trigger', format('%s.%I', r.name, t.tgname), t.tgenabled::text, pg_get_triggerdef(t.oid)
    from relation r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal and coalesce(to_jsonb(t)->>'tgparentid', '0') = '0'
    union all
    select 'rule', format('%s.%I', r.name, w.rulename), w.ev_enabled::text, pg_get_ruledef(w.oid)
    from relation r join pg_rewrite w on w.ev_class = r.oid where w.rulename <> '_RETURN'
    union all
    select 'policy', format('%s.%I', r.name, p.polname),
      concat_ws(' ', p.polcmd, p.polpermissive, (select json_agg(rolname order by rolname) from pg_roles where oid = any (p.polroles))),
      concat_ws(' check ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from relation r join pg_policy p on p.polrelid = r.oid
    union all
    select 'event_trigger', quote_ident(evtname), concat_ws(' ', evtevent, evtfoid::regprocedure, evtenabled, evttags), ''
    from pg_event_trigger e where ${notOfExtension("pg_event_trigger", "e.oid")}
    union all
    select 'function', p.oid::regprocedure::text,
      concat_ws(' ', p.prokind, p.prosrc, a.aggtransfn::regprocedure, a.aggfinalfn::regprocedure, a.aggcombinefn::regprocedure, format_type(a.aggtranstype, null), a.agginitval),
      case when p.prokind <> 'a' then replace(pg_get_functiondef(p.oid), coalesce(nullif(p.prosrc, ''), 'AS'), '') else pg_get_function_arguments(p.oid) end
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace left join pg_aggregate a on a.aggfnoid = p.oid
    where ${OWN_SCHEMAS} and ${notOfExtension("pg_proc", "p.oid")}
    union all
    select 'sequence', r.name, concat_ws(' ', format_type(s.seqtypid, null), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle,
      (select format('%s.%I', a.attrelid::regclass, a.attname) from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
       where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i') and d.refobjsubid > 0)), ''
    from relation r join pg_sequence s on s.seqrelid = r.oid
    union all
    select 'sequence_value', n.nspname || '.' || r.relname, coalesce(pg_sequence_last_value(r.oid)::text, ''), ''
    from relation r join pg_namespace n on n.oid = r.relnamespace where r.relkind = 'S'
    union all
    select 'statistics', format('%I.%I', n.nspname, x.stxname), coalesce(to_jsonb(x)->>'stxstattarget', '-1'), pg_get_statisticsobjdef(x.oid)
    from pg_statistic_ext x join pg_namespace n on n.oid = x.stxnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_statistic_ext", "x.oid")}
    union all
    select 'type', format('%I.%I', n.nspname, t.typname), concat_ws(' ', format_type(g.rngsubtype, null), g.rngcanonical, g.rngsubdiff,
      (select json_agg(json_build_array(attname, format_type(atttypid, atttypmod)) order by attnum) from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)), ''
    from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid and c.relkind = 'c' left join pg_range g on g.rngtypid = t.oid
    where (c.oid is not null or g.rngtypid is not null) and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'operator', o.oid::regoperator::text, o.oprcode::text, '' from pg_operator o join pg_namespace n on n.oid = o.oprnamespace
    where ${OWN_SCHEMAS} and ${notOfExtension("pg_operator", "o.oid")}
    union all
    select 'cast', concat_ws(' as ', castsource::regtype, casttarget::regtype), concat_ws(' ', castfunc::regprocedure, castcontext, castmethod), ''
    from pg_cast c where c.oid >= ${FIRST_OWN_OID} and ${notOfExtension("pg_cast", "c.oid")}
    union all
    select 'collation', format('%I.%I', n.nspname, c.collname), (to_jsonb(c) - '{oid,collnamespace,collowner,collversion}'::text[])::text, ''
    from pg_collation c join pg_namespace n on n.oid = c.collnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_collation", "c.oid")}
    union all
    select 'text_search', format('%I.%I', n.nspname, c.cfgname),
      (select json_agg(json_build_array(maptokentype, mapseqno, mapdict::regdictionary::text) order by maptokentype, mapseqno) from pg_ts_config_map where mapcfg = c.oid)::text, ''
    from pg_ts_config c join pg_namespace n on n.oid = c.cfgnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_ts_config", "c.oid")}
    union all
    select 'text_search', format('%I.%I (dictionary)', n.nspname, t.dictname), t.dictinitoption, ''
    from pg_ts_dict t join pg_namespace n on n.oid = t.dictnamespace where ${OWN_SCHEMAS} and ${notOfExtension("pg_ts_dict", "t.oid")}
    union all
    select 'foreign_table', r.name, concat_ws(' ', s.srvname, array_to_string(f.ftoptions, ' ')), ''
    from relation r join pg_foreign_table f on f.ftrelid = r.oid join pg_foreign_server s on s.oid = f.ftserver
    union all
    select 'foreign_server', quote_ident(s.srvname), concat_ws(' ', w.fdwname, s.srvtype, s.srvversion, array_to_string(s.srvoptions, ' ')), ''
    from pg_foreign_server s join pg_foreign_data_wrapper w on w.oid = s.srvfdw where ${notOfExtension("pg_foreign_server", "s.oid")}
    union all
    select 'comment', concat_ws(' ', of.type, of.identity), d.description, ''
    from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) of
    where d.objoid >= ${FIRST_OWN_OID} and d.classoid <> 'pg_extension'::regclass and of.identity is not null and (of.type, of.identity) <> ('schema', 'public')
      and not exists (select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and e.deptype = 'e')
    union all
    select '${EXTENSION}', quote_ident(x.extname), quote_ident(n.nspname), '' from pg_extension x join pg_namespace n on n.oid = x.extnamespace
    union all
    select 'large_objects', '', string_agg(oid::text, ' ' order by oid), '' from pg_largeobject_metadata having count(*) > 0
  )
  select json_build_array(kind, name, encode(sha256(convert_to(coalesce(exact, ''), 'UTF8')), 'hex'), coalesce(expression, '')) from object`;

/**
 * PostgreSQL 17.12 writes an option of its own into each column, another value each time, and the
 * list above has it. With such a server, it can't be compared.
 */
export const WRITES_OPTIONS =
  "select exists (select from pg_attribute where attoptions::text like '%pg!_attver=%' escape '!')";

export function earlierObjects(output: string): DatabaseObject[] {
  return rowsOf(output).map(([kind = "", name = "", exact = "", expression = ""]) => ({
    kind,
    name,
    definition: `${exact} ${plain(expression)}`,
  }));
}

/** Those of the restored copy that the backup lists too. */
export function listedThen(
  restored: readonly DatabaseObject[],
  { kinds, sha256 }: ExpectedObjects,
  key: Buffer,
): readonly DatabaseObject[] {
  // Without kinds, only the digest tells.
  const listsExtensions =
    kinds.has(EXTENSION) || (kinds.size === 0 && objectsDigest(taggedKinds(restored, key)) === sha256);
  return listsExtensions ? restored : restored.filter(({ kind }) => kind !== EXTENSION);
}
