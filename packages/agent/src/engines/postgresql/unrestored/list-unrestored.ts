import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { FIRST_OWN_OID, notOfExtension, OWN_SCHEMAS, rowsOf } from "../schema.ts";
import { settingValues } from "../printed/setting-values.ts";
import {
  isOfEveryServer,
  listText,
  type UnrestoredKind,
  unrestoredObject,
  wordsText,
} from "./unrestored-objects.ts";

/**
 * The columns and the row filter of a table in a publication, which exist since PostgreSQL 15.
 */
const COLUMNS = `coalesce((select json_agg(attname order by attnum) from pg_attribute where attrelid = r.prrelid and attnum = any (r.prattrs::int2[])), '[]')`;
const ROWS = "coalesce(pg_get_expr(r.prqual, r.prrelid), '')";

const ofVersion15 = (major: number, newer: string, older: string): string => (major < 15 ? older : newer);

const OWN = (catalog: string, oid: string): string => notOfExtension(catalog, oid);

/** The keyword and the name of the object that has a label, as pg_dump prints them. */
const LABELLED = `
  select 'pg_namespace'::regclass as class, n.oid, 0 as sub, format('SCHEMA %I', n.nspname) as target
  from pg_namespace n where ${OWN_SCHEMAS} and ${OWN("pg_namespace", "n.oid")}
  union all
  select 'pg_class'::regclass, c.oid, coalesce(a.attnum, 0), case when a.attnum is not null then format('COLUMN %I.%I.%I', n.nspname, c.relname, a.attname) else
    format('%s %I.%I', case c.relkind when 'v' then 'VIEW' when 'm' then 'MATERIALIZED VIEW' when 'f' then 'FOREIGN TABLE' when 'S' then 'SEQUENCE' else 'TABLE' end, n.nspname, c.relname) end
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join lateral (select attnum, attname from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped union all select null, null) a on true
  where c.relkind in ('r', 'p', 'f', 'm', 'v', 'S') and ${OWN_SCHEMAS} and ${OWN("pg_class", "c.oid")}
  union all
  select 'pg_proc'::regclass, p.oid, 0, format('%s %I.%I(%s)', case p.prokind when 'p' then 'PROCEDURE' when 'a' then 'AGGREGATE' else 'FUNCTION' end, n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${OWN_SCHEMAS} and ${OWN("pg_proc", "p.oid")}
  union all
  select 'pg_type'::regclass, t.oid, 0, format('%s %I.%I', case t.typtype when 'd' then 'DOMAIN' else 'TYPE' end, n.nspname, t.typname)
  from pg_type t join pg_namespace n on n.oid = t.typnamespace where ${OWN_SCHEMAS} and ${OWN("pg_type", "t.oid")}
  union all
  select 'pg_publication'::regclass, oid, 0, format('PUBLICATION %I', pubname) from pg_publication
  union all
  select 'pg_event_trigger'::regclass, oid, 0, format('EVENT TRIGGER %I', evtname) from pg_event_trigger`;

/** What lies in another tablespace than the database. An extension makes its own tables. */
const PLACED = `
  select case c.relkind when 'm' then 'materialized view' when 'i' then 'index' when 'I' then 'index' else 'table' end as what, n.nspname, c.relname, s.spcname
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_tablespace s on s.oid = c.reltablespace left join pg_index x on x.indexrelid = c.oid
  where c.relkind in ('r', 'p', 'm', 'i', 'I') and (x.indisvalid is not false or c.relkind = 'I') and ${OWN_SCHEMAS} and ${OWN("pg_class", "coalesce(x.indrelid, c.oid)")}`;

/** Each row is a JSON array: the kind, the name, and the parts. */
export const listUnrestored = (major: number): string => `
  with object(kind, name, parts) as (
    select 'publication', p.pubname::text, json_build_array(p.pubname, p.puballtables::text,
      concat_ws(', ', case when pubinsert then 'insert' end, case when pubupdate then 'update' end, case when pubdelete then 'delete' end, case when pubtruncate then 'truncate' end),
      coalesce(to_jsonb(p)->>'pubviaroot', 'false'), case coalesce(to_jsonb(p)->>'pubgencols', 'n') when 's' then 'stored' else 'none' end)
    from pg_publication p where ${OWN("pg_publication", "p.oid")}
    union all
    select 'publication_table', concat(p.pubname, ' ', n.nspname, '.', c.relname), json_build_array(p.pubname, n.nspname, c.relname,
      ${ofVersion15(major, COLUMNS, "json_build_array()")}::text, ${ofVersion15(major, ROWS, "''")})
    from pg_publication_rel r join pg_publication p on p.oid = r.prpubid join pg_class c on c.oid = r.prrelid join pg_namespace n on n.oid = c.relnamespace
    where ${OWN_SCHEMAS} and ${OWN("pg_class", "c.oid")}
    ${ofVersion15(
      major,
      `union all
    select 'publication_schema', concat(p.pubname, ' ', n.nspname), json_build_array(p.pubname, n.nspname)
    from pg_publication_namespace r join pg_publication p on p.oid = r.pnpubid join pg_namespace n on n.oid = r.pnnspid where ${OWN_SCHEMAS}`,
      "",
    )}
    union all
    select 'event_trigger', evtname::text, json_build_array(evtname, evtevent, coalesce(to_json(evttags), '[]')::text, n.nspname, p.proname, evtenabled::text)
    from pg_event_trigger e join pg_proc p on p.oid = evtfoid join pg_namespace n on n.oid = p.pronamespace where ${OWN("pg_event_trigger", "e.oid")}
    union all
    select 'security_label', '', json_build_array(l.provider, o.target, l.label)
    from pg_seclabel l join (${LABELLED}) o on o.class = l.classoid and o.oid = l.objoid and o.sub = l.objsubid
    union all
    select 'large_object_label', '', json_build_array(provider, concat('LARGE OBJECT ', objoid), label) from pg_seclabel where classoid = 'pg_largeobject'::regclass
    union all
    select 'extension_comment', extname::text, json_build_array(extname, description)
    from pg_extension x join pg_description d on d.classoid = 'pg_extension'::regclass and d.objoid = x.oid where x.oid >= ${FIRST_OWN_OID}
    union all
    select 'tablespace', concat(what, ' ', nspname, '.', relname), json_build_array(what, nspname, relname, spcname) from (${PLACED}) placed
    union all
    select 'database_setting', split_part(v, '=', 1), json_build_array(d.datname, split_part(v, '=', 1), substr(v, strpos(v, '=') + 1))
    from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase cross join lateral unnest(s.setconfig) v
    where s.setrole = 0 and d.datname = current_database()
    union all
    select 'role_in_database_setting', concat(r.rolname, ' ', split_part(v, '=', 1)),
      json_build_array(r.rolname, d.datname, split_part(v, '=', 1), substr(v, strpos(v, '=') + 1))
    from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole cross join lateral unnest(s.setconfig) v
    where d.datname = current_database()
    union all
    select 'database_comment', datname, json_build_array(datname, shobj_description(oid, 'pg_database'))
    from pg_database where datname = current_database() and shobj_description(oid, 'pg_database') is not null
    union all
    select 'database_connection_limit', datname, json_build_array(datname, datconnlimit::text)
    from pg_database where datname = current_database() and datconnlimit <> -1
    union all
    select 'database_is_template', datname, json_build_array(datname, 'true')
    from pg_database where datname = current_database() and datistemplate
    union all
    select 'database_locale', '', json_build_array(pg_encoding_to_char((d->>'encoding')::int), case coalesce(d->>'datlocprovider', 'c') when 'i' then 'icu' when 'b' then 'builtin' else 'libc' end,
      d->>'datcollate', d->>'datctype', coalesce(d->>'datlocale', d->>'daticulocale', ''), coalesce(d->>'daticurules', ''))
    from (select to_jsonb(pg_database) from pg_database where datname = current_database()) own(d)
    union all
    select 'database_tablespace', '', json_build_array(spcname)
    from pg_database d join pg_tablespace s on s.oid = d.dattablespace where datname = current_database() and spcname <> 'pg_default'
    union all
    select 'database_label', l.provider, json_build_array(l.provider, l.label)
    from pg_shseclabel l join pg_database d on d.oid = l.objoid where l.classoid = 'pg_database'::regclass and datname = current_database()
    union all
    select 'owner', concat('publication ', pubname), json_build_array('publication', pubname, pg_get_userbyid(pubowner)) from pg_publication p where ${OWN("pg_publication", "p.oid")}
    union all
    select 'owner', concat('event trigger ', evtname), json_build_array('event trigger', evtname, pg_get_userbyid(evtowner)) from pg_event_trigger e where ${OWN("pg_event_trigger", "e.oid")}
    union all
    select 'comment', concat('publication ', pubname), json_build_array('publication', pubname, description)
    from pg_publication p join pg_description d on d.classoid = 'pg_publication'::regclass and d.objoid = p.oid where ${OWN("pg_publication", "p.oid")}
    union all
    select 'comment', concat('event trigger ', evtname), json_build_array('event trigger', evtname, description)
    from pg_event_trigger e join pg_description d on d.classoid = 'pg_event_trigger'::regclass and d.objoid = e.oid where ${OWN("pg_event_trigger", "e.oid")}
  )
  select json_build_array(kind, name, parts::text) from object`;

/** Whether the role is a superuser, and whether the database has subscriptions. */
export const WHO_SEES_SUBSCRIPTIONS = `
  select json_build_array(current_setting('is_superuser'), exists (select from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()))`;

/**
 * The same for subscriptions, as a superuser. Of their connection strings, only digests leave the
 * server. Options that a version lacks have the value of its behaviour.
 */
export const LIST_SUBSCRIPTIONS = `
  with subscription as (
    select s.subname, s.oid, pg_get_userbyid(s.subowner) as owner, encode(sha256(convert_to(s.subconninfo, 'UTF8')), 'hex') as digest, to_jsonb(s) - 'subconninfo' as s
    from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()
  ), object(kind, name, parts) as (
    select 'subscription', subname::text, json_build_array(subname, (s->'subpublications')::text, coalesce(s->>'subslotname', ''), coalesce(s->>'subbinary', 'false'),
      case coalesce(s->>'substream', 'f') when 'p' then 'parallel' when 't' then 'on' when 'true' then 'on' else 'off' end,
      case coalesce(s->>'subtwophasestate', 'd') when 'd' then 'off' else 'on' end, coalesce(s->>'subdisableonerr', 'false'), coalesce(s->>'subpasswordrequired', 'true'),
      coalesce(s->>'subrunasowner', 'false'), coalesce(s->>'suborigin', 'any'), coalesce(s->>'subfailover', 'false'), s->>'subsynccommit')
    from subscription
    union all
    select 'subscription_connection', subname::text, json_build_array(subname, digest) from subscription
    union all
    select 'owner', concat('subscription ', subname), json_build_array('subscription', subname, owner) from subscription
    union all
    select 'comment', concat('subscription ', subname), json_build_array('subscription', subname, description)
    from subscription join pg_description d on d.classoid = 'pg_subscription'::regclass and d.objoid = subscription.oid
  )
  select json_build_array(kind, name, parts::text) from object`;

/** Kinds that are called by whose label it is, and of what. */
const LABELS: ReadonlySet<string> = new Set(["security_label", "large_object_label"]);

export function unrestoredOf(output: string): DatabaseObject[] {
  return rowsOf(output).flatMap(([kind = "", name = "", parts = "[]"]) => {
    const values = ofSetting(kind, listOf(parts)).map(PARTS.get(kind) ?? same);
    const [first = "", second = ""] = values;
    if (kind === "database_comment" && isOfEveryServer(first, second)) return [];
    const shown = LABELS.has(kind) ? `${first} ${second}` : name;
    return [unrestoredObject(kind as UnrestoredKind, shown, values)];
  });
}

/** A setting's value, which is the last part, as a dump has it. */
function ofSetting(kind: string, parts: readonly string[]): readonly string[] {
  if (!kind.endsWith("_setting")) return parts;
  return [...parts.slice(0, -1), settingValues(parts.at(-2) ?? "", parts.at(-1) ?? "")];
}

/** By kind of object, the function that brings each part into the form that is compared. */
const PARTS: ReadonlyMap<string, (part: string, at: number) => string> = new Map([
  [
    "publication_table",
    (part, at) => (at === 3 ? listText(listOf(part).toSorted()) : at === 4 ? wordsText(part) : part),
  ],
  ["event_trigger", (part, at) => (at === 2 ? listText(listOf(part)) : part)],
  ["subscription", (part, at) => (at === 1 ? listText(listOf(part)) : part)],
  ["security_label", (part, at) => (at === 1 ? wordsText(part) : part)],
]);

const same = (part: string): string => part;
const listOf = (json: string): string[] => (JSON.parse(json) as unknown[]).map(String);
