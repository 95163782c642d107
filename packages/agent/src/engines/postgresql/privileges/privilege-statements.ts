import { statementsOf } from "../printed/sql-words.ts";
import { quotedName } from "../../quoted-name.ts";

/** A dump's statements about owners and grants. */
export interface PrivilegeStatements {
  /**
   * For a copy in the database of that name, which takes the place of the dumped one. In the dump's
   * order: owners come before grants.
   */
  readonly statements: (database: string) => readonly string[];
  /** The roles that the statements name. */
  readonly roles: readonly string[];
}

/**
 * Objects that may get an owner. Those that a restore test does not create are compared elsewhere.
 */
const OWNED =
  /^(?:TABLE|VIEW|MATERIALIZED VIEW|FOREIGN TABLE|SEQUENCE|TYPE|DOMAIN|SCHEMA|COLLATION|CONVERSION|STATISTICS|SERVER|TEXT SEARCH CONFIGURATION|TEXT SEARCH DICTIONARY)$/;
/** Here, the arguments' types follow the name. */
const OWNED_WITH_TYPES = /^(?:FUNCTION|PROCEDURE|AGGREGATE|OPERATOR)$/;
/** Without quotes, a name has no capital letters, and a keyword has no others. */
const NAME = /^(?:[a-z_\u0080-\uffff][a-z0-9_$\u0080-\uffff]*|"[^]*")$/;
const KEYWORD = /^[A-Z]+$/;
/** Names, keywords, numbers and signs. Nothing that could be evaluated. */
const PLAIN = /^(?:[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|"[^]*"|\d+|[(),.[\]])$/;
const OPERATOR = /^[+\-*/<>=~!@#%^&|`?]+$/;
const LARGE_OBJECT = /(?:^ALTER| ON) LARGE OBJECT /;
const MAX_OF_LARGE_OBJECTS = 5_000;
const SET_ROLE = ["SET", "SESSION", "AUTHORIZATION"];

/**
 * Finds the statements about owners and grants in pg_dump's SQL, and nothing else: each is exactly
 * one `GRANT`, `REVOKE`, `ALTER … OWNER TO` or `ALTER DEFAULT PRIVILEGES` of names. Null if the SQL
 * cannot be read.
 */
export function privilegeStatements(sql: string): PrivilegeStatements | null {
  const statements: Statement[] = [];
  const roles = new Set<string>();
  let grantor: string | null = null;
  for (const words of statementsOf(sql, BEGINNINGS)) {
    if (words === null) return null;
    if (words[0] === "RESET") grantor = null;
    else if (SET_ROLE.every((word, at) => words[at] === word) && words.length === 4)
      grantor = words[3] ?? null;
    else if (setsDatabaseOwner(words) || isPrivilege(words)) {
      for (const role of rolesIn(words)) roles.add(role);
      const isBy = grantor !== null && NAME.test(grantor) ? grantor : null;
      if (isBy !== null) roles.add(nameOf(isBy));
      statements.push({ words, grantor: isBy, database: databaseIn(words) });
    }
  }
  roles.delete("PUBLIC");
  const ofLarge = statements.filter(({ words }) => LARGE_OBJECT.test(words.join(" ")));
  // More than this take too many locks, so they are not compared.
  const dropped = new Set(ofLarge.length > MAX_OF_LARGE_OBJECTS ? ofLarge : []);
  const kept = statements.filter((each) => !dropped.has(each));
  return { statements: (database) => kept.map((each) => textOf(each, database)), roles: [...roles] };
}

interface Statement {
  readonly words: readonly string[];
  /** As whom it runs, if not as the server's superuser: a word of the dump. */
  readonly grantor: string | null;
  /** The place among the words of the database's own name, or -1. */
  readonly database: number;
}

function textOf({ words, grantor, database: at }: Statement, database: string): string {
  const text = (at === -1 ? words : words.with(at, quotedName(database))).join(" ");
  return grantor === null ? text : `${SET_ROLE.join(" ")} ${grantor}; ${text}; RESET SESSION AUTHORIZATION`;
}

function databaseIn(words: readonly string[]): number {
  if (setsDatabaseOwner(words)) return 2;
  const at = words.findIndex((word, index) => word === "ON" && words[index + 1] === "DATABASE");
  const [name = "", then = ""] = at === -1 ? [] : words.slice(at + 2);
  return NAME.test(name) && (then === "TO" || then === "FROM") ? at + 2 : -1;
}

const BEGINNINGS: ReadonlySet<string> = new Set(["GRANT", "REVOKE", "ALTER", "SET", "RESET"]);

function isPrivilege(words: readonly string[]): boolean {
  const [first, second, third] = words;
  if (first === "GRANT" || first === "REVOKE") {
    return words.includes("ON") && words.every((word) => PLAIN.test(word));
  }
  if (first !== "ALTER") return false;
  if (second === "DEFAULT") return third === "PRIVILEGES" && words.every((word) => PLAIN.test(word));
  return setsOwner(words);
}

function setsDatabaseOwner(words: readonly string[]): boolean {
  const [first, second, database = "", third, fourth, role = ""] = words;
  const keywords = [first, second, third, fourth].join(" ");
  return (
    words.length === 6 && keywords === "ALTER DATABASE OWNER TO" && NAME.test(database) && NAME.test(role)
  );
}

/** One object and one role, and nothing between or after them. */
function setsOwner(words: readonly string[]): boolean {
  if (words.at(-3) !== "OWNER" || words.at(-2) !== "TO" || !NAME.test(words.at(-1) ?? "")) return false;
  const object = words.slice(1, -3);
  const names = object.findIndex((word) => !KEYWORD.test(word));
  const kind = object.slice(0, names).join(" ");
  if (kind === "LARGE OBJECT") return object.length === 3 && /^\d+$/.test(object[2] ?? "");
  const named = object.slice(names);
  if (OWNED.test(kind)) return named.every(isOfName);
  const types = named.indexOf("(");
  if (!OWNED_WITH_TYPES.test(kind) || types === -1) return false;
  const isSigned = (word: string): boolean => OPERATOR.test(word) && (kind === "OPERATOR" || word === "*");
  return (
    named
      .slice(0, types)
      .every((word, at) => isOfName(word, at) || (kind === "OPERATOR" && isSigned(word))) &&
    isOneGroup(named.slice(types)) &&
    named.slice(types).every((word) => PLAIN.test(word) || (kind === "AGGREGATE" && isSigned(word)))
  );
}

/** Whether a word at this place fits into `schema.name`. */
function isOfName(word: string, at: number): boolean {
  return at % 2 === 0 ? NAME.test(word) : word === ".";
}

function isOneGroup(words: readonly string[]): boolean {
  let depth = 0;
  return words.every((word, at) => {
    depth += word === "(" ? 1 : word === ")" ? -1 : 0;
    return depth > 0 || at === words.length - 1;
  });
}

/** The names after TO, FROM and ROLE. In pg_dump's SQL, only keywords are in capitals. */
function rolesIn(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    if (word !== "TO" && word !== "FROM" && word !== "ROLE") return [];
    const names: string[] = [];
    for (let next = at + 1; next < words.length; next += 2) {
      names.push(nameOf(words[next] ?? ""));
      if (words[next + 1] !== ",") break;
    }
    return names;
  });
}

function nameOf(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replaceAll('""', '"') : word;
}
