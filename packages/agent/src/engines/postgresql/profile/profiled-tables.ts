import { NEWER } from "../../../checks/index.ts";
import { OWN_SCHEMAS, notOfExtension, rowsOf } from "../schema.ts";
import { quotedName } from "../../quoted-name.ts";

export interface ProfiledColumn {
  readonly name: string;
  /** Decides what is counted of its values; see `expressionsOf`. */
  readonly kind: "text" | "bytes" | "document" | "time" | "plain" | "other";
}

export interface ProfiledTable {
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  readonly bytes: number;
  /** As counted when an index was built; 0 if there is none. */
  readonly rows: number;
  readonly columns: readonly ProfiledColumn[];
}

/** At most this many columns of a table are read, texts first. */
const MAX_COLUMNS = 40;

/** Only types that every server has: a type that the dump made may run code of its own. */
const KINDS: Readonly<Record<string, ProfiledColumn["kind"]>> = {
  25: "text",
  1042: "text",
  1043: "text",
  17: "bytes",
  114: "document",
  3802: "document",
  1082: "time",
  1114: "time",
  1184: "time",
  ...Object.fromEntries([16, 19, 20, 21, 23, 26, 700, 701, 1700, 2950].map((oid) => [oid, "plain"])),
};
const FIRST: readonly ProfiledColumn["kind"][] = ["text", "bytes", "document", "time", "plain", "other"];

/** The largest first, with the built-in type below each column's domains. */
export const PROFILED_TABLES = `
  with recursive base(type, built_in) as (
    select oid, oid from pg_type where typtype <> 'd'
    union all
    select t.oid, base.built_in from pg_type t join base on base.type = t.typbasetype where t.typtype = 'd'
  )
  select json_build_array(format('%I.%I', n.nspname, c.relname), n.nspname, c.relname, pg_relation_size(c.oid)::text, greatest(c.reltuples, 0)::text,
    (select coalesce(json_agg(json_build_array(a.attname, base.built_in::int8::text) order by a.attnum), '[]'::json)::text
     from pg_attribute a join base on base.type = a.atttypid
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
  order by pg_relation_size(c.oid) desc, n.nspname, c.relname`;

export function profiledTables(output: string): ProfiledTable[] {
  return rowsOf(output).map(([name = "", schema = "", table = "", bytes, rows, columns = "[]"]) => ({
    name,
    schema,
    table,
    bytes: Number(bytes),
    rows: Number(rows),
    columns: (JSON.parse(columns) as [string, string][])
      .map(([column, oid]): ProfiledColumn => ({ name: column, kind: KINDS[oid] ?? "other" }))
      .toSorted((a, b) => FIRST.indexOf(a.kind) - FIRST.indexOf(b.kind))
      .slice(0, MAX_COLUMNS),
  }));
}

/** About this many bytes of a larger table are read. */
const SAMPLED_BYTES = 8 << 20;
/**
 * About how many rows are read. With so many, a rate is exact enough that a column stands out
 * if a hundredth of it was encrypted. Without a JIT each row takes about 20 µs.
 */
const SAMPLED_ROWS = 12_000;
/** Up to this size single rows are chosen; of a larger table, pages first. */
const READ_BYTES = 256 << 20;

/** The share of the table's rows that `profileStatement` reads. */
export function shareOf({ bytes, rows }: Pick<ProfiledTable, "bytes" | "rows">): number {
  return Math.min(1, SAMPLED_BYTES / Math.max(1, bytes), SAMPLED_ROWS / Math.max(1, rows));
}

/** The column of the line that counts the sample's rows. */
export const ALL_ROWS = -1;

/**
 * Counts in a sample that `seed` decides. No operator, cast or function of the dump runs: the
 * functions are those of every server, for its own types. Each line has a column's place; then of
 * a column whose values are looked at, for each different value: how many have it, the sum of
 * log(1 + length) over them, nothing, and the value or its start. Of any other column there is one
 * line: values, different values, and the newest time but ten, in seconds since 1970.
 */
export function profileStatement(table: ProfiledTable, seed: number): string {
  const expressions = table.columns.flatMap(expressionsOf).join(", ");
  const from = `only ${quotedName(table.schema)}.${quotedName(table.table)}${sampleOf(table, seed)}`;
  const lines = [
    `select ${ALL_ROWS}, pg_catalog.count(*), null::pg_catalog.float8, null::pg_catalog.float8, null::pg_catalog.text from s`,
    ...table.columns.map(({ kind }, at) => linesOf(kind, at)),
  ];
  return `copy (with s as materialized (select ${expressions} from ${from}) ${lines.join(" union all ")}) to stdout`;
}

function sampleOf(table: ProfiledTable, seed: number): string {
  const share = shareOf(table);
  if (share === 1) return "";
  if (table.bytes <= READ_BYTES)
    return ` tablesample bernoulli (${(100 * share).toFixed(6)}) repeatable (${seed})`;
  // From as many pages as there is time for: a change to one page says little about others.
  const pages = SAMPLED_BYTES / table.bytes;
  const rows =
    share < pages ? ` where pg_catalog.random() operator(pg_catalog.<) ${(share / pages).toFixed(9)}` : "";
  return ` tablesample system (${(100 * pages).toFixed(6)}) repeatable (${seed})${rows}`;
}

/** The value, and the length of one whose start is looked at, as `c` and `l` with its place. */
function expressionsOf({ name, kind }: ProfiledColumn, at: number): string[] {
  const column = quotedName(name);
  const start = (text: string, characters: number): string =>
    `pg_catalog.substr(${text}, 1, ${characters}) collate pg_catalog."C" as c${at}`;
  switch (kind) {
    case "text":
      return [start(column, 256), `pg_catalog.octet_length(${column}) as l${at}`];
    case "bytes":
      return [
        `pg_catalog.encode(pg_catalog.substr(${column}, 1, 256), 'hex') collate pg_catalog."C" as c${at}`,
        `pg_catalog.octet_length(${column}) as l${at}`,
      ];
    case "document": {
      const text = `case when ${column} is not null then pg_catalog.concat(${column}) end`;
      return [start(text, 1024), `pg_catalog.length(${text}) as l${at}`];
    }
    case "time":
      return [`pg_catalog.date_part('epoch', ${column}) as c${at}`];
    case "plain":
      return [`${column} as c${at}`];
    case "other":
      return [`case when ${column} is not null then true end as c${at}`];
  }
}

function linesOf(kind: ProfiledColumn["kind"], at: number): string {
  switch (kind) {
    case "text":
    case "bytes":
    case "document":
      return `select ${at}, pg_catalog.count(*), pg_catalog.sum(pg_catalog.ln(1::pg_catalog.float8 operator(pg_catalog.+) l${at}::pg_catalog.float8)), null, c${at} from s where c${at} is not null group by c${at}`;
    case "time":
      return `select ${at}, pg_catalog.count(c${at}), pg_catalog.count(distinct c${at}), (select c${at} from s where c${at} operator(pg_catalog.<) 'infinity'::pg_catalog.float8 and c${at} operator(pg_catalog.>) '-infinity'::pg_catalog.float8 order by c${at} desc offset ${NEWER} limit 1), null from s`;
    case "plain":
      return `select ${at}, pg_catalog.count(c${at}), pg_catalog.count(distinct c${at}), null, null from s`;
    case "other":
      return `select ${at}, pg_catalog.count(c${at}), null, null, null from s`;
  }
}
