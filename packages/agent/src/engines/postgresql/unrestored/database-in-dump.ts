import type { FoundInDump, Reader } from "./found-in-dump.ts";
import type { StatementReader } from "./statement-reader.ts";
import { isOfEveryServer, listText } from "./unrestored-objects.ts";

/** What a dump says about the database itself. Its owner and grants are among the privileges. */
export const OF_DATABASE: readonly Reader[] = [
  { begins: ["CREATE", "DATABASE"], read: createdDatabase },
  { begins: ["COMMENT", "ON", "DATABASE"], read: databaseComment },
  { begins: ["ALTER", "DATABASE"], read: changedDatabase },
  { begins: ["ALTER", "ROLE"], read: roleSetting },
];

const OPTIONS: ReadonlySet<string> = new Set([
  "TEMPLATE",
  "ENCODING",
  "LOCALE_PROVIDER",
  "LOCALE",
  "LC_COLLATE",
  "LC_CTYPE",
  "ICU_LOCALE",
  "BUILTIN_LOCALE",
  "ICU_RULES",
  "TABLESPACE",
]);

/** The database's name is not compared, because a copy has another one. */
function createdDatabase(found: FoundInDump, statement: StatementReader): boolean {
  const options = new Map<string, string>();
  if (statement.name() === null || !statement.accepts("WITH")) return false;
  while (!statement.isRead) {
    const option = statement.word() ?? "";
    const value = statement.accepts("=") ? (statement.literal() ?? statement.name()) : null;
    if (value === null || !OPTIONS.has(option) || options.has(option)) return false;
    options.set(option, value);
  }
  // Both of the C library's, if they are the same.
  const libc = options.get("LOCALE") ?? "";
  const tablespace = options.get("TABLESPACE");
  if (tablespace !== undefined) found.add("database_tablespace", "", [tablespace]);
  return found.add("database_locale", "", [
    options.get("ENCODING") ?? "",
    options.get("LOCALE_PROVIDER") ?? "libc",
    options.get("LC_COLLATE") ?? libc,
    options.get("LC_CTYPE") ?? libc,
    options.get("ICU_LOCALE") ?? options.get("BUILTIN_LOCALE") ?? "",
    options.get("ICU_RULES") ?? "",
  ]);
}

function databaseComment(found: FoundInDump, statement: StatementReader): boolean {
  const database = statement.name();
  const text = statement.accepts("IS") ? statement.literal() : null;
  if (database === null || text === null) return false;
  return isOfEveryServer(database, text) || found.add("database_comment", database, [database, text]);
}

function changedDatabase(found: FoundInDump, statement: StatementReader): boolean {
  const database = statement.name();
  if (database === null) return false;
  if (statement.accepts("CONNECTION", "LIMIT", "="))
    return limit(found, statement, "database_connection_limit", database);
  if (statement.accepts("IS_TEMPLATE", "=")) return limit(found, statement, "database_is_template", database);
  if (!statement.accepts("SET")) return statement.skip();
  const [setting, values] = settingIn(statement);
  if (setting === null || values === null) return false;
  return found.add("database_setting", setting, [database, setting, listText(values)]);
}

function limit(
  found: FoundInDump,
  statement: StatementReader,
  kind: "database_connection_limit" | "database_is_template",
  database: string,
): boolean {
  const value = statement.word();
  return value !== null && found.add(kind, database, [database, value]);
}

function roleSetting(found: FoundInDump, statement: StatementReader): boolean {
  const role = statement.name();
  const database = statement.accepts("IN", "DATABASE") ? statement.name() : null;
  const [setting, values] = statement.accepts("SET") ? settingIn(statement) : [null, null];
  if (role === null || database === null || setting === null || values === null) return false;
  return found.add("role_in_database_setting", `${role} ${setting}`, [
    role,
    database,
    setting,
    listText(values),
  ]);
}

function settingIn(statement: StatementReader): [setting: string | null, values: readonly string[] | null] {
  return [statement.name(), statement.accepts("TO") ? statement.literals() : null];
}
