import type { ObjectsWords } from "../../../checks/index.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { sqlWords } from "../printed/sql-words.ts";

/**
 * Objects that a restore test does not create in the copy: a publication or subscription could send
 * or fetch rows, an event trigger needs a superuser, and a security label its provider. They are
 * compared with the dump.
 */
export type UnrestoredKind =
  | "publication"
  | "publication_table"
  | "publication_schema"
  | "subscription"
  | "event_trigger"
  | "security_label"
  | "large_object_label"
  | "subscription_connection"
  | "extension_comment"
  | "tablespace"
  | "owner"
  | "comment"
  | OfDatabaseKind;

type OfDatabaseKind =
  | "database_setting"
  | "role_in_database_setting"
  | "database_comment"
  | "database_connection_limit"
  | "database_is_template"
  | "database_locale"
  | "database_tablespace"
  | "database_label";

/** The version of `content.unrestored` from which on each kind is listed, where that is not 2. */
const SINCE: ReadonlyMap<string, number> = new Map<UnrestoredKind, number>([
  ["database_setting", 3],
  ["role_in_database_setting", 3],
  ["database_comment", 4],
  ["database_connection_limit", 4],
  ["database_is_template", 4],
  ["database_locale", 5],
  ["database_tablespace", 5],
  ["database_label", 5],
  ["large_object_label", 5],
  ["subscription_connection", 5],
  ["extension_comment", 5],
  ["tablespace", 5],
]);

/** The kinds that a version of `content.unrestored` does not list. */
export function unrestoredUnlistedBy(version: number): readonly string[] {
  return [...SINCE].flatMap(([kind, since]) => (since > version ? [kind] : []));
}

export const SUBSCRIPTION = "subscription" satisfies UnrestoredKind;

/** The dump, as far as it decides which kinds can be compared. */
export interface DumpedBy {
  /** Of pg_dump. */
  readonly major: number;
  /** Whether the server prints every name in quotes for it. */
  readonly quotesAll: boolean;
}

/**
 * Kinds that a restore test does not look for, or not as the source lists them. pg_dump 17 and
 * later write the labels of large objects between the data. The server prints row filters, and the
 * types of a function that has a label.
 */
export function notLookedFor({ major, quotesAll }: DumpedBy): ReadonlySet<string> {
  return new Set<UnrestoredKind>([
    ...(major < 17 ? [] : (["large_object_label"] as const)),
    ...(quotesAll ? (["publication_table", "security_label"] as const) : []),
  ]);
}

/** `name` is for people. `parts` have every name and value as it is, without quotes. */
export function unrestoredObject(
  kind: UnrestoredKind,
  name: string,
  parts: readonly string[],
): DatabaseObject {
  return { kind, name, definition: JSON.stringify(parts) };
}

/** The comment with which every server begins, so nobody can lose it. */
export function isOfEveryServer(database: string, comment: string): boolean {
  return database === "postgres" && comment === "default administrative connection database";
}

/** A list as one of the parts. */
export function listText(values: readonly string[]): string {
  return JSON.stringify(values);
}

/** Text that the server prints and pg_dump only passes on, whatever space is between the words. */
export function wordsText(printed: string): string {
  return sqlWords(printed)?.join(" ") ?? printed;
}

/** Objects that backups without such a list have among their other objects. */
export function isUnrestored({ kind, name }: DatabaseObject): boolean {
  return kind === "event_trigger" || (kind === "comment" && name.startsWith("event trigger "));
}

/** For people, in the definition of the check. */
export const UNRESTORED_WORDS: ObjectsWords = {
  query:
    "the publications, subscriptions, event triggers, security labels and tablespaces that the dump has, of which the copy has none, and the locale, the settings, the comment and the limits that it gives the database",
  hint: "compare what pg_dump --schema-only prints of both",
};
