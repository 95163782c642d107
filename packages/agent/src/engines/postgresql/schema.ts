import { type SchemaLine, schemaHash } from "../schema.ts";
import { asReadBack } from "./printed/printed-sql.ts";

/**
 * These settings decide how the server prints names and expressions. Without them the same schema
 * could be printed in two ways.
 */
export const PRINTING: readonly string[] = [
  "search_path = pg_catalog",
  "timezone = 'UTC'",
  "datestyle = 'ISO'",
  "intervalstyle = 'postgres'",
  "quote_all_identifiers = off",
  "extra_float_digits = 1",
  "standard_conforming_strings = on",
];

/** Objects with oids from here on were created after the cluster. */
export const FIRST_OWN_OID = 16_384;

/** Schemas of the server itself, and of sessions. */
export const OWN_SCHEMAS = "n.nspname !~ '^pg_' and n.nspname <> 'information_schema'";
/** Excludes what belongs to an extension. */
export const notOfExtension = (catalog: string, oid: string): string =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`;

/** Options of a foreign server and the like. A dump has them in this order. */
export const SORTED = (options: string): string =>
  `(select array_agg(o order by o collate "C") from unnest(${options}) o)`;

/**
 * Lists schemas, tables, columns, types, constraints, indexes and extensions, which a restored copy
 * must have too. Each row is a JSON array of kind, relation, name, definition, and the
 * definition for the exact hash. That one is empty if the server chooses a constraint's name. It
 * leaves out NOT NULL constraints, because only some versions have them in the catalogue and all
 * have them at the column; owners; and whether an inherited constraint was validated, because a
 * dump does not say so. The first definition may never change: `schema_hash` of earlier backups is
 * over it.
 */
export const SCHEMA_LISTING = `
  with relation as (
    select c.*, format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'f', 'm', 'v', 'S') and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
  ), listing(kind, relation, name, definition, exact) as (
    select 'schema', '', n.nspname::text, '', null from pg_namespace n where ${OWN_SCHEMAS} and ${notOfExtension("pg_namespace", "n.oid")}
    union all
    select 'extension', '', extname::text, '', null from pg_extension
    union all
    select 'relation', name, '', concat_ws(' ', relkind, relpersistence, relrowsecurity, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid)), null
    from relation
    union all
    select 'column', r.name, a.attname::text, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' end, nullif(a.attidentity::text, ''), nullif(a.attgenerated::text, ''),
      case when a.attcollation <> t.typcollation then (select 'collate ' || collname from pg_collation where oid = a.attcollation) end,
      'default ' || pg_get_expr(e.adbin, e.adrelid)),
      concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end, nullif(a.attidentity::text, ''), nullif(a.attgenerated::text, ''),
        case when a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end, 'default ' || pg_get_expr(e.adbin, e.adrelid))
    from relation r join pg_attribute a on a.attrelid = r.oid join pg_type t on t.oid = a.atttypid
      left join pg_attrdef e on e.adrelid = r.oid and e.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped and r.relkind <> 'S'
    union all
    select 'constraint', r.name, c.conname::text, case when c.conislocal then pg_get_constraintdef(c.oid) else replace(pg_get_constraintdef(c.oid), ' NOT VALID', '') end,
      case when c.contype = 'f' and c.conparentid <> 0 then '' end
    from relation r join pg_constraint c on c.conrelid = r.oid where c.contype not in ('n', 't')
    union all
    select 'index', r.name, i.relname::text, pg_get_indexdef(i.oid), null
    from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid where x.indisvalid
    union all
    select 'enum', '', format('%I.%I', n.nspname, t.typname), (select json_agg(enumlabel order by enumsortorder)::text from pg_enum where enumtypid = t.oid), null
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where t.typtype = 'e' and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
    union all
    select 'domain', '', format('%I.%I', n.nspname, t.typname), concat_ws(' ', format_type(t.typbasetype, t.typtypmod),
      case when t.typnotnull then 'not null' end, 'default ' || t.typdefault,
      (select string_agg(pg_get_constraintdef(c.oid), ' ' order by c.conname) from pg_constraint c where c.contypid = t.oid and c.contype = 'c')),
      concat_ws(' ', format_type(t.typbasetype, t.typtypmod), case when t.typnotnull then 'not null' end, 'default ' || pg_get_expr(t.typdefaultbin, 0),
        (select string_agg(pg_get_constraintdef(c.oid), ' ' order by c.conname) from pg_constraint c where c.contypid = t.oid and c.contype = 'c'))
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where t.typtype = 'd' and ${OWN_SCHEMAS} and ${notOfExtension("pg_type", "t.oid")}
  )
  select json_build_array(kind, relation, name, coalesce(definition, ''), coalesce(exact, definition, '')) from listing`;

/**
 * Lists tables with rows of their own, the largest first. Materialized views are not among them,
 * because a restore computes them again.
 */
export const TABLES_BY_SIZE = `
  select json_build_array(format('%I.%I', n.nspname, c.relname))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
  order by pg_table_size(c.oid) desc, n.nspname, c.relname`;

/**
 * Roles that the dump names and that a throw-away server lacks. Only the rows tell which roles a
 * `regrole` column names, so this lists all roles that fit into a receipt.
 */
export const NAMED_ROLES = `
  with by_objects as (select unnest(polroles) as role from pg_policy union select umuser from pg_user_mappings)
  select json_build_array(rolname) from pg_roles
  where oid in (select role from by_objects) or (rolname !~ '^pg_' and exists (
    select from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.atttypid in ('regrole'::regtype, 'regrole[]'::regtype) and not a.attisdropped and c.relkind in ('r', 'm') and c.oid >= 16384))
  order by oid not in (select role from by_objects), rolname limit 1000`;

export const EXTENSIONS = "select json_build_array(extname, extversion) from pg_extension order by extname";

/** The output of the statements above: one JSON array of texts per line. */
export function rowsOf(output: string): string[][] {
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const row: unknown = JSON.parse(line);
      if (!Array.isArray(row)) throw new Error("a catalogue query returned no array");
      return row.map(String);
    });
}

/**
 * The lines for `schema_hash`. The same schema must always give the same lines. Expressions are
 * without casts, parentheses and spaces, so schemas with the same lines may differ.
 */
export function schemaLines(output: string): SchemaLine[] {
  return readableLines(output).map((line) => ({ ...line, definition: plain(line.definition) }));
}

/** Their definitions are no SQL. */
const NOT_PRINTED: ReadonlySet<string> = new Set(["schema", "extension", "enum"]);

/**
 * SHA-256 in hex. Schemas with the same hash are the same, except for text that a restored copy
 * prints differently (`asReadBack`).
 */
export function exactSchemaHash(output: string): string {
  return schemaHash(
    rowsOf(output)
      .filter(([kind, , , , exact]) => kind !== "constraint" || exact !== "")
      .map(([kind = "", relation = "", name = "", , exact = ""]) => ({
        kind,
        relation,
        name,
        definition: NOT_PRINTED.has(kind) ? exact : asReadBack(exact),
      })),
  );
}

/** As the server prints them. */
export function readableLines(output: string): SchemaLine[] {
  return rowsOf(output).map(([kind = "", relation = "", name = "", definition = ""]) => ({
    kind,
    relation,
    name,
    definition,
  }));
}

const CAST =
  /::(?:character varying|bit varying|double precision|time(?:stamp)?(?:\(\d\))? with(?:out)? time zone|"[^"]*"|\w+)(?:\.(?:"[^"]*"|\w+))?(?:\(\d+(?:,\d+)?\))?(?:\[\])*/g;

/**
 * Removes casts, parentheses and spaces from an expression. After a restore, the server may print
 * the same expression with others, for example `x in ('a', 'b')` over a varchar.
 */
export function plain(definition: string): string {
  return definition.replaceAll(CAST, "").replaceAll(/[()\s]/g, "");
}
