import type { SchemaLine } from "../schema.ts";
import { literal, type MariadbSession, quoted } from "./connection/session.ts";
import { rowsOf } from "./connection/session-error.ts";
import { withoutJoinParentheses } from "./view-joins.ts";

/** The server's own databases. They are never backed up. */
export const OWN_DATABASES: readonly string[] = ["information_schema", "performance_schema", "mysql", "sys"];

/**
 * The directory that a file system of its own has at its top, which a server takes for a database.
 */
const LOST_AND_FOUND = "#mysql50#lost+found";

/** Whether a database is neither the server's own nor none at all. */
export function isOfUsers(database: string): boolean {
  return !OWN_DATABASES.includes(database.toLowerCase()) && database !== LOST_AND_FOUND;
}

export const inList = (column: string, databases: readonly string[]): string =>
  `binary ${column} in (${databases.map((name) => `binary ${literal(name)}`).join(", ")})`;

/**
 * Returns for example `orders.lines`. A name with other characters than letters, digits, `_` and
 * `$` is in backticks.
 */
export function tableName(database: string, table: string): string {
  return `${part(database)}.${part(table)}`;
}

function part(name: string): string {
  return /^[A-Za-z0-9_$]+$/.test(name) ? name : quoted(name);
}

/**
 * A dump states for every Aria table whether its pages have checksums. So a restored table has this
 * option even if it is only the default in the source.
 */
const CREATE_OPTIONS = `if(engine = 'Aria' and create_options not like '%page_checksum=%',
  trim(regexp_replace(create_options, '^((?:(?:max_rows|min_rows|avg_row_length|pack_keys|stats_[a-z_]+|checksum)=[^ ]+ )*)([^ ])', '\\\\1page_checksum=1 \\\\2')),
  create_options)`;

/**
 * Lists everything that a restored copy must have besides rows: databases, tables, columns,
 * indexes, constraints, partitions, views, routines, triggers and events. The rows of each
 * statement are kind, database, table or an empty text, name, and definition. They contain no
 * owner, no definer, no row count and no counter's next value. Nor do they contain what a restore
 * at another time, by another server, makes otherwise: formats of old columns, row formats that no
 * table names, partitions that the server adds, events that end. `withAge` they do, as in backups
 * from before 27 November 2026.
 */
export function schemaListing(databases: readonly string[], withAge = false): string[] {
  const unless = (condition: string): string => (withAge ? "" : ` and not (${condition})`);
  const format = withAge ? "row_format, " : "";
  const type = withAge ? "column_type" : "replace(column_type, ' /* mariadb-5.3 */', '')";
  const of = (column: string): string => inList(column, databases);
  return [
    `select 'database', schema_name, '', schema_name, concat_ws(' ', default_character_set_name, default_collation_name)
     from information_schema.schemata where ${of("schema_name")}`,
    `select 'table', table_schema, table_name, '', concat_ws(' ', table_type, engine, table_collation, ${format}nullif(replace(${CREATE_OPTIONS}, 'partitioned', ''), ''))
     from information_schema.tables where ${of("table_schema")} and table_type <> 'VIEW'`,
    `select 'column', table_schema, table_name, column_name, concat_ws(' ', lpad(ordinal_position, 4, '0'), ${type}, collation_name,
       if(is_nullable = 'NO', 'not null', null), if(column_default is null, null, concat('default ', column_default)), nullif(extra, ''),
       nullif(generation_expression, ''))
     from information_schema.columns where ${of("table_schema")}`,
    `select 'index', table_schema, table_name, index_name, concat_ws(' ', if(non_unique = 0, 'unique', null), index_type,
       group_concat(concat(coalesce(column_name, '?'), coalesce(concat('(', sub_part, ')'), ''), coalesce(concat(' ', collation), '')) order by seq_in_index separator ', '))
     from information_schema.statistics where ${of("table_schema")}
     group by table_schema, table_name, index_name, non_unique, index_type`,
    `select 'foreign key', k.constraint_schema, k.table_name, k.constraint_name, concat_ws(' ',
       group_concat(k.column_name order by k.ordinal_position separator ', '), 'references', min(k.referenced_table_schema), min(k.referenced_table_name),
       group_concat(k.referenced_column_name order by k.ordinal_position separator ', '), min(r.update_rule), min(r.delete_rule))
     from information_schema.key_column_usage k join information_schema.referential_constraints r
       on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name and r.table_name = k.table_name
     where ${of("k.constraint_schema")} and k.referenced_table_name is not null
     group by k.constraint_schema, k.table_name, k.constraint_name`,
    `select 'partition', table_schema, table_name, partition_name, concat_ws(' ', partition_method, partition_expression, partition_description)
     from information_schema.partitions where ${of("table_schema")} and partition_name is not null
       ${unless("partition_method = 'SYSTEM_TIME' and partition_description <> 'CURRENT'")}`,
    `select 'view', table_schema, table_name, '', concat_ws(' ', view_definition, check_option, security_type)
     from information_schema.views where ${of("table_schema")}`,
    `select lower(routine_type), routine_schema, '', routine_name, concat_ws(' ', dtd_identifier, routine_definition, is_deterministic, sql_data_access, security_type)
     from information_schema.routines where ${of("routine_schema")}`,
    `select 'trigger', trigger_schema, event_object_table, trigger_name, concat_ws(' ', action_timing, event_manipulation, action_statement)
     from information_schema.triggers where ${of("trigger_schema")}`,
    `select 'event', event_schema, '', event_name, concat_ws(' ', event_definition, interval_value, interval_field)
     from information_schema.events where ${of("event_schema")}
       ${unless("on_completion <> 'PRESERVE' and (event_type = 'ONE TIME' or ends is not null)")}`,
  ];
}

/** MariaDB's CHECK constraints. In MySQL, the table of that name is a different one. */
export function checkConstraints(databases: readonly string[]): string {
  return `select 'check', constraint_schema, table_name, constraint_name, check_clause
    from information_schema.check_constraints where ${inList("constraint_schema", databases)}`;
}

/**
 * Where a table's files are depends on the host. A scratch server keeps all of them in its own
 * directory.
 */
const PLACE_OF_FILES = / ?(?:DATA|INDEX) DIRECTORY='[^']*'/gi;

export function schemaLine(
  [kind = "", database = "", table = "", name = "", definition = ""]: readonly string[],
  asPrinted = false,
): SchemaLine {
  const relation = table === "" ? "" : tableName(database, table);
  return {
    kind,
    relation,
    name: table === "" && kind !== "database" ? tableName(database, name) : name,
    definition: comparable(kind, definition, asPrinted),
  };
}

function comparable(kind: string, definition: string, asPrinted: boolean): string {
  if (kind === "table") return definition.replaceAll(PLACE_OF_FILES, "");
  return kind === "view" && !asPrinted ? withoutJoinParentheses(definition) : definition;
}

export interface ListedTable {
  readonly database: string;
  readonly table: string;
  /** The table's name in the metadata. */
  readonly name: string;
  readonly storageEngine: string;
  /** Whether a transaction sees all its rows at one moment. */
  readonly isTransactional: boolean;
  /** Whether the server keeps earlier versions of its rows. */
  readonly isVersioned: boolean;
}

/** Names a table together with all earlier versions of its rows. These are counted separately. */
export function historyName(table: string): string {
  return `${table} (history)`;
}

/**
 * Lists the tables that store rows, the largest first: database, table, storage engine, 1 if the
 * engine has transactions, 1 if the table keeps earlier versions of rows.
 */
export function tablesBySize(databases: readonly string[]): string {
  return `select t.table_schema, t.table_name, coalesce(t.engine, ''), if(coalesce(e.transactions, 'NO') = 'YES', 1, 0),
      if(t.table_type = 'SYSTEM VERSIONED', 1, 0)
    from information_schema.tables t left join information_schema.engines e on e.engine = t.engine
    where ${inList("t.table_schema", databases)} and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
    order by coalesce(t.data_length, 0) + coalesce(t.index_length, 0) desc, t.table_schema, t.table_name`;
}

export function listedTable([
  database = "",
  table = "",
  storageEngine = "",
  transactional = "",
  versioned = "",
]: readonly string[]): ListedTable {
  return {
    database,
    table,
    name: tableName(database, table),
    storageEngine,
    isTransactional: transactional === "1",
    isVersioned: versioned === "1",
  };
}

/** The accounts that views, routines, triggers and events run as: `user@host`. */
export async function definersOf(session: MariadbSession, databases: readonly string[]): Promise<string[]> {
  const from = (table: string, column: string): string =>
    `select definer from information_schema.${table} where ${inList(column, databases)}`;
  const sql = [
    from("views", "table_schema"),
    from("routines", "routine_schema"),
    from("triggers", "trigger_schema"),
    from("events", "event_schema"),
  ].join(" union ");
  return rowsOf(await session.run(`${sql} order by 1`), "listing who defined what").map(
    ([definer = ""]) => definer,
  );
}

/** Whether a view reads the server's own databases. A view that only names one counts too. */
export async function hasViewsOfServer(
  session: MariadbSession,
  databases: readonly string[],
): Promise<boolean> {
  const found =
    await session.run(`select count(*) from information_schema.views where ${inList("table_schema", databases)}
    and (view_definition like '%\`mysql\`%' or view_definition like '%\`sys\`%')`);
  return rowsOf(found, "listing the views")[0]?.[0] !== "0";
}

/** Lists generated columns: database, table, expression, and whether their values are stored. */
export function generatedColumns(databases: readonly string[]): string {
  return `select table_schema, table_name, generation_expression, extra like '%STORED%' from information_schema.columns
    where ${inList("table_schema", databases)} and coalesce(generation_expression, '') <> ''`;
}

/** Lists columns of the type TIMESTAMP: database, table, column. */
export function timestampColumns(databases: readonly string[]): string {
  return `select table_schema, table_name, column_name from information_schema.columns
    where ${inList("table_schema", databases)} and data_type = 'timestamp'`;
}

/**
 * Lists FLOAT columns that are not generated, those of the smallest tables first: database, table,
 * column, and whether the table has earlier versions of rows.
 */
export function floatColumns(databases: readonly string[]): string {
  return `select c.table_schema, c.table_name, c.column_name, t.table_type = 'SYSTEM VERSIONED' from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where ${inList("c.table_schema", databases)} and c.data_type = 'float' and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
      and coalesce(c.generation_expression, '') = ''
    order by coalesce(t.data_length, 0), 1, 2, c.ordinal_position`;
}

/** Every character of these has one in Unicode. */
const WITHIN_UNICODE =
  "utf8mb4 utf8mb3 utf8 utf16 utf16le utf32 latin1 latin2 latin5 latin7 cp850 cp852 cp866 keybcs2 koi8r koi8u macce macroman".split(
    " ",
  );

/**
 * Lists columns in another character set whose default, or an element of whose ENUM or SET, has a
 * question mark. The server prints one for a character that utf8mb4 lacks.
 */
export function doubtfulDefaults(databases: readonly string[]): string {
  return `select table_schema, table_name, column_name from information_schema.columns
    where ${inList("table_schema", databases)} and not ${inList("character_set_name", WITHIN_UNICODE)}
      and (column_default like '%?%' or column_type like '%?%') order by 1, 2, 3`;
}

/** As `floatColumns`, of columns in other character sets: the set comes before the last field. */
export function textColumns(databases: readonly string[]): string {
  return `select c.table_schema, c.table_name, c.column_name, c.character_set_name, t.table_type = 'SYSTEM VERSIONED' from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where ${inList("c.table_schema", databases)} and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
      and not ${inList("c.character_set_name", WITHIN_UNICODE)} and coalesce(c.generation_expression, '') = ''
    order by coalesce(t.data_length, 0), 1, 2, c.ordinal_position`;
}

/**
 * Lists ENUM and SET columns, those of the smallest tables first: database, table, column, its type
 * with all elements, and whether the table has earlier versions of rows.
 */
export function enumColumns(databases: readonly string[]): string {
  return `select c.table_schema, c.table_name, c.column_name, c.column_type, t.table_type = 'SYSTEM VERSIONED' from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where ${inList("c.table_schema", databases)} and c.data_type in ('enum', 'set') and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
      and coalesce(c.generation_expression, '') = ''
    order by coalesce(t.data_length, 0), 1, 2, c.ordinal_position`;
}

/** The same of JSON columns. MariaDB has none: its type JSON is a text. */
export function jsonColumns(databases: readonly string[]): string {
  return `select c.table_schema, c.table_name, c.column_name from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where ${inList("c.table_schema", databases)} and c.data_type = 'json' and t.table_type = 'BASE TABLE'
      and coalesce(c.generation_expression, '') = ''
    order by coalesce(t.data_length, 0), 1, 2, c.ordinal_position`;
}

/** A table in a query, with the earlier versions of its rows. */
export function allRowsOf(database: string, table: string, isVersioned: boolean): string {
  return `${quoted(database)}.${quoted(table)}${isVersioned ? " for system_time all" : ""}`;
}
