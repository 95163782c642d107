import { inList, tableName } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

export interface ProfiledColumn {
  readonly name: string;
  /** How its values reach us; see `expressionsOf`. */
  readonly kind: "text" | "bytes" | "time" | "plain" | "bits" | "other";
}

export interface ProfiledTable {
  /** In the metadata. */
  readonly name: string;
  readonly database: string;
  readonly table: string;
  /** As they were counted in the copy, or as the server estimates them. */
  readonly rows: number;
  /** Empty if all are generated. */
  readonly columns: readonly ProfiledColumn[];
}

/** How many columns of a table are looked at, texts first. */
const MAX_COLUMNS = 40;
/** About how many rows of a larger table are read. */
const SAMPLED_ROWS = 30_000;

const TYPES: Readonly<Record<Exclude<ProfiledColumn["kind"], "other">, string>> = {
  text: "char varchar tinytext text mediumtext longtext json",
  bytes: "binary varbinary tinyblob blob mediumblob longblob",
  time: "date datetime timestamp",
  plain: "tinyint smallint mediumint int bigint decimal float double year time enum set uuid inet4 inet6",
  bits: "bit",
};
const KINDS = new Map(
  Object.entries(TYPES).flatMap(([kind, types]) =>
    types.split(" ").map((type) => [type, kind as ProfiledColumn["kind"]] as const),
  ),
);
const FIRST: readonly ProfiledColumn["kind"][] = ["text", "bytes", "time", "plain", "bits", "other"];

/** `counted`: rows by the tables' names in the metadata. */
export async function profiledTables(
  session: MariadbSession,
  databases: readonly string[],
  counted: ReadonlyMap<string, bigint>,
): Promise<ProfiledTable[]> {
  const tables = rowsOf(
    await session.run(`select table_schema, table_name, coalesce(table_rows, 0) from information_schema.tables
      where ${inList("table_schema", databases)} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')`),
    "listing the tables",
  );
  const listed = rowsOf(
    await session.run(`select table_schema, table_name, column_name, data_type from information_schema.columns
      where ${inList("table_schema", databases)} and coalesce(generation_expression, '') = ''
      order by 1, 2, ordinal_position`),
    "listing the columns",
  );
  const columns = new Map<string, ProfiledColumn[]>();
  for (const [database = "", table = "", name = "", type = ""] of listed) {
    const of = tableName(database, table);
    const own = columns.get(of) ?? [];
    own.push({ name, kind: KINDS.get(type) ?? "other" });
    columns.set(of, own);
  }
  return tables.map(([database = "", table = "", rows = "0"]) => {
    const name = tableName(database, table);
    return {
      name,
      database,
      table,
      rows: Number(counted.get(name) ?? rows),
      columns: (columns.get(name) ?? [])
        .toSorted((a, b) => FIRST.indexOf(a.kind) - FIRST.indexOf(b.kind))
        .slice(0, MAX_COLUMNS),
    };
  });
}

/** The share of the table's rows that `profileStatement` reads. */
export function shareOf({ rows }: ProfiledTable): number {
  return Math.min(1, SAMPLED_ROWS / Math.max(1, rows));
}

/**
 * Reads a sample that `seed` decides. No routine, view or generated column of the dump runs: the
 * functions are the server's own, and a routine cannot take their names.
 */
export function profileStatement(table: ProfiledTable, seed: number): string {
  const share = shareOf(table);
  const sample = share === 1 ? "" : ` where rand(${seed}) < ${share.toFixed(9)}`;
  const list = table.columns.flatMap(expressionsOf).join(", ");
  return `select ${list} from ${quoted(table.database)}.${quoted(table.table)}${sample}`;
}

/** The client prints NULL as it prints a text `NULL`, so the first field of a text is a number. */
function expressionsOf({ name, kind }: ProfiledColumn): string[] {
  const column = quoted(name);
  switch (kind) {
    case "text":
      return [`octet_length(${column})`, `left(${column}, 256)`];
    case "bytes":
      return [`octet_length(${column})`, `hex(left(${column}, 256))`];
    case "time":
      return [`${column} is null`, `timestampdiff(second, '1970-01-01', ${column})`];
    case "plain":
      return [`concat('=', ${column})`];
    case "bits":
      return [`concat('=', ${column} + 0)`];
    case "other":
      return [`${column} is null`];
  }
}
