import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { statementsOf } from "../printed/sql-words.ts";
import { StatementReader } from "../unrestored/statement-reader.ts";
import { type GlobalKind, globalObject } from "./global-objects.ts";

/**
 * Reads what pg_dumpall's SQL says about the whole server. It runs nothing of it. A statement that
 * is not understood is an object too: no source has it, so a test that finds one fails.
 */
export function globalsInDump(sql: string): readonly DatabaseObject[] {
  const found = new FoundGlobals();
  for (const words of statementsOf(sql, null)) {
    if (words === null) found.unknown([]);
    else if (!PREAMBLE.test(words.join(" ")) && !found.read(words)) found.unknown(words);
  }
  return found.objects();
}

/** How pg_dumpall begins. None of it is about the server. */
const PREAMBLE =
  /^SET (?:default_transaction_read_only = off|standard_conforming_strings = (?:on|off)|escape_string_warning = off|client_encoding = '[A-Za-z0-9_]{1,32}')$/;

type Read = (found: FoundGlobals, statement: StatementReader) => boolean;

interface Tablespace {
  readonly owner: string;
  readonly location: string;
  options: string;
}

class FoundGlobals {
  readonly #objects: DatabaseObject[] = [];
  readonly #tablespaces = new Map<string, Tablespace>();

  read(words: readonly string[]): boolean {
    const statement = new StatementReader(words);
    const about = READERS.find(({ begins }) => statement.accepts(...begins));
    const before = this.#objects.length;
    const isRead = about?.read(this, statement) === true && statement.isRead;
    // Nothing of a statement that is only half understood.
    if (!isRead) this.#objects.length = before;
    return isRead;
  }

  add(kind: GlobalKind, name: string, parts: readonly string[]): true {
    this.#objects.push(globalObject(kind, name, parts));
    return true;
  }

  addTablespace(name: string, tablespace: Omit<Tablespace, "options">): boolean {
    if (this.#tablespaces.has(name)) return false;
    this.#tablespaces.set(name, { ...tablespace, options: "" });
    return true;
  }

  setOptions(name: string, options: string): boolean {
    const tablespace = this.#tablespaces.get(name);
    if (tablespace === undefined || tablespace.options !== "") return false;
    tablespace.options = options;
    return true;
  }

  unknown(words: readonly string[]): void {
    const isOfGrants =
      (/^(?:GRANT|REVOKE)$/.test(words[0] ?? "") && words.some((word) => GRANTABLE.has(word))) ||
      /^(?:RE)?SET SESSION AUTHORIZATION\b/.test(words.join(" "));
    this.add(isOfGrants ? "grant" : "statement", "", words);
  }

  objects(): readonly DatabaseObject[] {
    const tablespaces = [...this.#tablespaces].map(([name, { owner, location, options }]) =>
      globalObject("tablespace", name, [name, owner, location, options]),
    );
    return [...this.#objects, ...tablespaces];
  }
}

const READERS: readonly { readonly begins: readonly string[]; readonly read: Read }[] = [
  // What follows says everything about the role.
  { begins: ["CREATE", "ROLE"], read: (_, statement) => statement.name() !== null },
  { begins: ["ALTER", "ROLE"], read: role },
  { begins: ["CREATE", "TABLESPACE"], read: tablespace },
  { begins: ["ALTER", "TABLESPACE"], read: tablespaceOptions },
  { begins: ["COMMENT", "ON"], read: comment },
  { begins: ["SECURITY", "LABEL", "FOR"], read: securityLabel },
  { begins: ["GRANT"], read: grant },
];

/** In the order of `LIST_GLOBALS`. */
const FLAGS = ["SUPERUSER", "INHERIT", "CREATEROLE", "CREATEDB", "LOGIN", "REPLICATION", "BYPASSRLS"];

function role(found: FoundGlobals, statement: StatementReader): boolean {
  const name = statement.name();
  if (name === null) return false;
  if (statement.accepts("SET")) return setting(found, statement, name);
  if (!statement.accepts("WITH")) return false;
  const flags = new Map<string, boolean>();
  let limit: string | null = null;
  let password: string | null = null;
  let until: string | null = null;
  while (!statement.isRead) {
    const flag = FLAGS.find((each) => !flags.has(each) && statement.next?.replace(/^NO(?!$)/, "") === each);
    const word = statement.next ?? "";
    if (flag !== undefined && statement.accepts(word)) flags.set(flag, word === flag);
    else if (limit === null && statement.accepts("CONNECTION", "LIMIT")) limit = number(statement);
    else if (password === null && statement.accepts("PASSWORD")) password = statement.literal();
    else if (until === null && statement.accepts("VALID", "UNTIL")) until = statement.literal();
    else return false;
  }
  const isSet = (flag: string): string => String(flags.get(flag) ?? "");
  found.add("role", name, [name, ...FLAGS.map(isSet), limit ?? "-1", until ?? ""]);
  return password === null || found.add("role_password", name, [name, password]);
}

function setting(found: FoundGlobals, statement: StatementReader, role: string): boolean {
  const name = statement.name();
  if (name === null || !statement.accepts("TO")) return false;
  const values = statement.literals();
  if (values === null) return false;
  return found.add("role_setting", `${role} ${name}`, [role, name, JSON.stringify(values)]);
}

function tablespace(found: FoundGlobals, statement: StatementReader): boolean {
  const name = statement.name();
  const owner = statement.accepts("OWNER") ? statement.name() : null;
  const location = statement.accepts("LOCATION") ? statement.literal() : null;
  if (name === null || owner === null || location === null) return false;
  // One without a directory of its own has a path that depends on its oid.
  return found.addTablespace(name, { owner, location: location.startsWith("/") ? location : "" });
}

function tablespaceOptions(found: FoundGlobals, statement: StatementReader): boolean {
  const name = statement.name();
  const options = statement.accepts("SET") ? statement.group() : null;
  return name !== null && options !== null && found.setOptions(name, options.join(" "));
}

function comment(found: FoundGlobals, statement: StatementReader): boolean {
  const [what, name] = named(statement);
  const text = statement.accepts("IS") ? statement.literal() : null;
  if (what === null || name === null || text === null) return false;
  return found.add("comment", `${what.toLowerCase()} ${name}`, [what, name, text]);
}

function securityLabel(found: FoundGlobals, statement: StatementReader): boolean {
  const provider = statement.name();
  const [what, name] = statement.accepts("ON") ? named(statement) : [null, null];
  const label = statement.accepts("IS") ? statement.literal() : null;
  if (provider === null || what === null || name === null || label === null) return false;
  return found.add("security_label", `${provider} ${what.toLowerCase()} ${name}`, [
    provider,
    what,
    name,
    label,
  ]);
}

function named(statement: StatementReader): [what: string | null, name: string | null] {
  const what = ["ROLE", "TABLESPACE"].find((each) => statement.accepts(each)) ?? null;
  return [what, statement.name()];
}

/** What can be granted besides roles, with all privileges of each. */
const GRANTABLE: ReadonlyMap<string, readonly string[]> = new Map([
  ["TABLESPACE", ["CREATE"]],
  ["PARAMETER", ["SET", "ALTER SYSTEM"]],
]);

function grant(found: FoundGlobals, statement: StatementReader): boolean {
  const privileges = privilegesIn(statement);
  if (privileges.length === 0) return membership(found, statement);
  const what = statement.accepts("ON") ? [...GRANTABLE.keys()].find((each) => statement.accepts(each)) : null;
  const name = statement.name();
  const to = statement.accepts("TO") ? grantee(statement) : null;
  const isGrantable = String(statement.accepts("WITH", "GRANT", "OPTION"));
  const all = GRANTABLE.get(what ?? "");
  if (what === undefined || what === null || all === undefined || name === null || to === null) return false;
  const own = privileges.includes("ALL") ? all : privileges;
  if (!own.every((each) => all.includes(each))) return false;
  for (const privilege of own)
    found.add("grant", `${privilege} on ${what.toLowerCase()} ${name} to ${to}`, [
      what,
      name,
      to,
      privilege,
      isGrantable,
    ]);
  return true;
}

function privilegesIn(statement: StatementReader): string[] {
  const privileges: string[] = [];
  do {
    const privilege = ["ALL", "CREATE", "SET", "ALTER SYSTEM"].find((each) =>
      statement.accepts(...each.split(" ")),
    );
    if (privilege === undefined) return [];
    privileges.push(privilege);
  } while (statement.accepts(","));
  return privileges;
}

function grantee(statement: StatementReader): string | null {
  return statement.accepts("PUBLIC") ? "PUBLIC" : statement.name();
}

/** Before PostgreSQL 16 a membership had no options but ADMIN. */
function membership(found: FoundGlobals, statement: StatementReader): boolean {
  const role = statement.name();
  const member = statement.accepts("TO") ? statement.name() : null;
  if (role === null || member === null) return false;
  const options = new Map<string, boolean>();
  if (statement.accepts("WITH")) {
    do {
      const option = ["ADMIN", "INHERIT", "SET"].find((each) => statement.accepts(each));
      const value = ["OPTION", "TRUE", "FALSE"].find((each) => statement.accepts(each));
      if (option === undefined || value === undefined || options.has(option)) return false;
      options.set(option, value !== "FALSE");
    } while (statement.accepts(","));
  }
  const by = statement.accepts("GRANTED", "BY") ? statement.name() : "";
  if (by === null) return false;
  return found.add("membership", `${role} to ${member}`, [
    role,
    member,
    String(options.get("ADMIN") ?? false),
    String(options.get("INHERIT") ?? ""),
    String(options.get("SET") ?? true),
    by,
  ]);
}

function number(statement: StatementReader): string | null {
  const sign = statement.accepts("-") ? "-" : "";
  const digits = statement.next ?? "";
  return /^\d+$/.test(digits) && statement.accepts(digits) ? `${sign}${digits}` : null;
}
