import { OWN_SCHEMAS, notOfExtension, rowsOf } from "../schema.ts";

/** A table with rows in the dump, as the database's catalogue describes it. */
export interface CatalogueTable {
  /** As the metadata name it. */
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  /** The columns that COPY prints, in its order. Generated columns are not among them. */
  readonly columns: readonly string[];
  /** Has columns of another table, and a restore may change their order. */
  readonly isChild: boolean;
  /** Has a column of the type money, also within another type. Its text depends on a locale. */
  readonly hasMoney: boolean;
  /** The size of its rows on the server's disk. */
  readonly bytes: number;
}

/**
 * The one table of a database's catalogue with rows in the dump: all large objects together. They
 * are compared like a table.
 */
export const LARGE_OBJECTS = "pg_catalog.pg_largeobject";

/** Types, each with one that its values contain. */
export const MADE_OF = `
      select oid as type, typelem as of_type from pg_type where typelem <> 0
      union all select oid, typbasetype from pg_type where typbasetype <> 0
      union all select rngtypid, rngsubtype from pg_range
      union all select t.oid, a.atttypid from pg_type t join pg_attribute a on a.attrelid = t.typrelid
        where t.typrelid <> 0 and a.attnum > 0 and not a.attisdropped`;

const TABLES = (largeObjects: string): string => `
  with recursive money(type) as (
    select 790::oid
    union
    select made.type from money join (${MADE_OF}
    ) made on made.of_type = money.type
  )
  select json_build_array(format('%I.%I', n.nspname, c.relname), n.nspname, c.relname,
    not c.relispartition and exists (select from pg_inherits where inhrelid = c.oid),
    exists (select from pg_attribute a join money on money.type = a.atttypid where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
    (select coalesce(json_agg(a.attname order by a.attnum), '[]'::json)::text from pg_attribute a
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''), pg_table_size(c.oid)::text)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where (c.relkind = 'r' and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}) or (c.oid = 'pg_catalog.pg_largeobject'::regclass and ${largeObjects})
  order by pg_table_size(c.oid) desc, n.nspname, c.relname`;

/** Of a source: the largest first, as JSON arrays of texts. */
export const CONTENT_TABLES = TABLES("exists (select from pg_largeobject_metadata)");
/** Of a restored copy, in which the large objects may be missing. */
export const RESTORED_CONTENT_TABLES = TABLES("true");

export function catalogueTables(output: string): CatalogueTable[] {
  return rowsOf(output).map(
    ([name = "", schema = "", table = "", isChild, hasMoney, columns = "[]", bytes]) => ({
      name,
      schema,
      table,
      columns: (JSON.parse(columns) as unknown[]).map(String),
      isChild: isChild === "true",
      hasMoney: hasMoney === "true",
      bytes: Number(bytes),
    }),
  );
}

/**
 * Kind and name of the other data, which is not compared. A dump has no rows of a table that
 * belongs to an extension, unless the extension says that they are its settings, nor of one in a
 * schema of the server. The same holds for the next value of an extension's sequence, which nobody
 * has to note that was never used.
 */
export const NOT_COMPARED = `
  select json_build_array(kind, name) from (
    select case c.relkind when 'f' then 'foreign_table' else 'materialized_view' end as kind, format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('f', 'm') and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
    union all
    select 'extension_table', format('%I.%I', n.nspname, c.relname)
    from pg_extension e, unnest(e.extconfig) config(oid) join pg_class c on c.oid = config.oid and c.relkind in ('r', 'S') join pg_namespace n on n.oid = c.relnamespace
    union all
    select 'not_in_dump', format('%I.%I', n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and c.oid >= 16384 and pg_relation_size(c.oid) > 0 and not exists (select from pg_extension where c.oid = any (extconfig))
      and (n.nspname in ('pg_catalog', 'information_schema') or not ${notOfExtension("pg_class", "c.oid")})
    union all
    select 'not_in_dump', format('%I.%I', n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'S' and c.oid >= 16384 and not exists (select from pg_extension where c.oid = any (extconfig)) and not ${notOfExtension("pg_class", "c.oid")}
      and case when has_sequence_privilege(c.oid, 'USAGE, SELECT') then pg_sequence_last_value(c.oid) is not null else true end
    union all
    select 'generated_column', format('%I.%I.%I', n.nspname, c.relname, a.attname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and a.attgenerated <> '' and not a.attisdropped and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
  ) data order by kind, name`;

/**
 * The settings that decide how the server prints values and that pg_dump does not set.
 */
export interface ValueSettings {
  readonly bytea_output: string;
  readonly quote_all_identifiers: string;
  readonly lc_monetary: string;
}

export const VALUE_SETTINGS = `
  select json_build_array(max(reset_val) filter (where name = 'bytea_output'), max(reset_val) filter (where name = 'lc_monetary')) from pg_settings`;

/** The reason why the rows of a table cannot be compared; null if they can. */
export function whyNotCompared(
  { isChild, hasMoney }: CatalogueTable,
  { lc_monetary }: Pick<ValueSettings, "lc_monetary">,
): "inherited_columns" | "money" | null {
  if (isChild) return "inherited_columns";
  return hasMoney && !/^(?:C|POSIX)(?:\.|$)/.test(lc_monetary) ? "money" : null;
}
