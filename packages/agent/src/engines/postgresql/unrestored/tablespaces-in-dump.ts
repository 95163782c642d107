import type { FoundInDump, Reader } from "./found-in-dump.ts";
import type { StatementReader } from "./statement-reader.ts";

/**
 * In which tablespaces a dump makes tables and indexes: pg_restore sets the default before it makes
 * one. Those in the database's own tablespace are not listed.
 */
export const OF_TABLESPACES: readonly Reader[] = [
  { begins: ["SET", "default_tablespace", "="], read: defaultTablespace },
  { begins: ["CREATE", "TABLE"], read: relation("table") },
  { begins: ["CREATE", "UNLOGGED", "TABLE"], read: relation("table") },
  { begins: ["CREATE", "MATERIALIZED", "VIEW"], read: relation("materialized view") },
  { begins: ["CREATE", "INDEX"], read: index },
  { begins: ["CREATE", "UNIQUE", "INDEX"], read: index },
  { begins: ["ALTER", "TABLE", "ONLY"], read: indexOfConstraint },
];

function defaultTablespace(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.text() ?? statement.name();
  found.tablespace = name ?? "";
  return name !== null;
}

function relation(what: string): Reader["read"] {
  return (found, statement) => lies(found, statement, what, statement.qualified() ?? []);
}

function index(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  const ofTable = statement.accepts("ON") ? tableOf(statement) : null;
  if (name === null || ofTable === null) return false;
  return lies(found, statement, "index", [ofTable[0] ?? "", name]);
}

/** An index lies in the schema of its table. */
function tableOf(statement: StatementReader): readonly string[] | null {
  statement.accepts("ONLY");
  return statement.qualified();
}

const WITH_INDEX: ReadonlySet<string | undefined> = new Set(["PRIMARY", "UNIQUE", "EXCLUDE"]);

function indexOfConstraint(found: FoundInDump, statement: StatementReader): boolean {
  const [schema = ""] = statement.qualified() ?? [];
  const name = statement.accepts("ADD", "CONSTRAINT") ? statement.name() : null;
  if (name === null || !WITH_INDEX.has(statement.next)) return statement.skip();
  return lies(found, statement, "index", [schema, name]);
}

function lies(
  found: FoundInDump,
  statement: StatementReader,
  what: string,
  [schema, name, ...more]: readonly string[],
): boolean {
  if (schema === undefined || name === undefined || more.length > 0) return false;
  if (found.tablespace !== "")
    found.add("tablespace", `${what} ${schema}.${name}`, [what, schema, name, found.tablespace]);
  return statement.skip();
}
