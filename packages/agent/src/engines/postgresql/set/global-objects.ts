import type { ObjectsWords } from "../../../checks/index.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";

/** What belongs to a whole server and is in the globals of a set. */
export type GlobalKind =
  | "role"
  | "role_password"
  | "role_setting"
  | "membership"
  | "comment"
  | "security_label"
  | "tablespace"
  | "grant"
  | UndumpedKind
  /** A statement that is none of these. A source has none. */
  | "statement";

/**
 * What pg_dumpall leaves out: what `ALTER ROLE ALL` sets, and what somebody changed of tablespaces
 * and roles that every server has.
 */
type UndumpedKind = "setting_of_all_roles" | "built_in_tablespace" | "built_in_role";
const UNDUMPED: ReadonlySet<string> = new Set<UndumpedKind>([
  "setting_of_all_roles",
  "built_in_tablespace",
  "built_in_role",
]);

export function isUndumped({ kind }: DatabaseObject): boolean {
  return UNDUMPED.has(kind);
}

/**
 * `name` is for people, so it never has a password or a setting's value. `parts` have every name
 * and value as it is, without quotes.
 */
export function globalObject(kind: GlobalKind, name: string, parts: readonly string[]): DatabaseObject {
  return { kind, name, definition: JSON.stringify(parts) };
}

/** For people, in the definition of the check. */
export const GLOBALS_WORDS: ObjectsWords = {
  query:
    "the roles, passwords, memberships, settings, comments, tablespaces and grants that the dump of the server's globals has",
  hint: "compare what pg_dumpall --globals-only prints of both",
};
