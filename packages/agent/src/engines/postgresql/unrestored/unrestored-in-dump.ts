import { createHash } from "node:crypto";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { statementsOf } from "../printed/sql-words.ts";
import { OF_DATABASE } from "./database-in-dump.ts";
import { FoundInDump, type Read, type Reader } from "./found-in-dump.ts";
import { StatementReader } from "./statement-reader.ts";
import { OF_TABLESPACES } from "./tablespaces-in-dump.ts";
import { listText, type UnrestoredKind } from "./unrestored-objects.ts";

const BEGINNINGS: ReadonlySet<string> = new Set(["SET", "CREATE", "ALTER", "COMMENT", "SECURITY"]);

/** How a dump of a source with this setting begins. Each backslash in its texts is doubled. */
const ESCAPES = "SET standard_conforming_strings = off";

/**
 * Reads in pg_dump's SQL what it says about publications, subscriptions, event triggers and
 * security labels, which locale, settings, comment and limits it gives the database, and what lies
 * in which tablespace. It runs nothing of it. Null if a part is not understood, such as an option
 * of a newer version.
 */
export function unrestoredInDump(sql: string): readonly DatabaseObject[] | null {
  const found = new FoundInDump();
  let hasEscapes = false;
  for (const words of statementsOf(sql, BEGINNINGS)) {
    if (words === null || !isRead(found, hasEscapes ? words.map(unescaped) : words)) return null;
    hasEscapes ||= words.join(" ") === ESCAPES;
  }
  return found.objects();
}

/** False if the statement is about one of these, and was not understood. */
function isRead(found: FoundInDump, words: readonly string[]): boolean {
  const statement = new StatementReader(words);
  const about = READERS.find(({ begins }) => statement.accepts(...begins));
  if (about === undefined) return true;
  return about.read(found, statement) && statement.isRead;
}

function unescaped(word: string): string {
  return word.startsWith("'") ? word.replaceAll("\\\\", "\\") : word;
}

const READERS: readonly Reader[] = [
  ...OF_DATABASE,
  ...OF_TABLESPACES,
  { begins: ["CREATE", "PUBLICATION"], read: publication },
  { begins: ["ALTER", "PUBLICATION"], read: changedPublication },
  { begins: ["CREATE", "SUBSCRIPTION"], read: subscription },
  { begins: ["ALTER", "SUBSCRIPTION"], read: owner("subscription") },
  { begins: ["CREATE", "EVENT", "TRIGGER"], read: eventTrigger },
  { begins: ["ALTER", "EVENT", "TRIGGER"], read: changedEventTrigger },
  { begins: ["COMMENT", "ON", "PUBLICATION"], read: comment("publication") },
  { begins: ["COMMENT", "ON", "SUBSCRIPTION"], read: comment("subscription") },
  { begins: ["COMMENT", "ON", "EVENT", "TRIGGER"], read: comment("event trigger") },
  { begins: ["COMMENT", "ON", "EXTENSION"], read: extensionComment },
  { begins: ["SECURITY", "LABEL", "FOR"], read: securityLabel },
];

function publication(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  const isAll = statement.accepts("FOR", "ALL", "TABLES");
  const options = statement.accepts("WITH")
    ? statement.options("publish", "publish_via_partition_root", "publish_generated_columns")
    : null;
  if (name === null || options === null) return false;
  return found.add("publication", name, [
    name,
    String(isAll),
    options.get("publish") ?? "insert, update, delete, truncate",
    options.get("publish_via_partition_root") ?? "false",
    options.get("publish_generated_columns") ?? "none",
  ]);
}

function changedPublication(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  if (name === null) return false;
  if (statement.accepts("ADD", "TABLES", "IN", "SCHEMA")) {
    const schema = statement.name();
    return schema !== null && found.add("publication_schema", `${name} ${schema}`, [name, schema]);
  }
  if (!statement.accepts("ADD", "TABLE", "ONLY")) return ownedBy(found, statement, "publication", name);
  const [schema, table, ...more] = statement.qualified() ?? [];
  if (schema === undefined || table === undefined || more.length > 0) return false;
  const columns = statement.next === "(" ? statement.list((each) => each.name()) : [];
  const rows = statement.accepts("WHERE") ? statement.group() : [];
  if (columns === null || rows === null) return false;
  return found.add("publication_table", `${name} ${schema}.${table}`, [
    name,
    schema,
    table,
    listText(columns.toSorted()),
    rows.join(" "),
  ]);
}

/** Of the connection string, which may hold a password, only the digest is kept. */
function subscription(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  const connection = statement.accepts("CONNECTION") ? statement.text() : null;
  if (name === null || connection === null) return false;
  const digest = createHash("sha256").update(connection).digest("hex");
  const publications = statement.accepts("PUBLICATION") ? statement.names() : null;
  const options = statement.accepts("WITH")
    ? statement.options(
        "connect",
        "slot_name",
        "binary",
        "streaming",
        "two_phase",
        "disable_on_error",
        "password_required",
        "run_as_owner",
        "origin",
        "failover",
        "synchronous_commit",
      )
    : null;
  if (publications === null || options?.get("connect") !== "false") return false;
  const slot = options.get("slot_name");
  found.add("subscription_connection", name, [name, digest]);
  return found.add("subscription", name, [
    name,
    listText(publications),
    slot === undefined || slot === "NONE" ? "" : slot,
    options.get("binary") ?? "false",
    options.get("streaming") ?? "off",
    options.get("two_phase") ?? "off",
    options.get("disable_on_error") ?? "false",
    options.get("password_required") ?? "true",
    options.get("run_as_owner") ?? "false",
    options.get("origin") ?? "any",
    options.get("failover") ?? "false",
    options.get("synchronous_commit") ?? "off",
  ]);
}

function eventTrigger(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  const event = statement.accepts("ON") ? statement.name() : null;
  const tags = statement.accepts("WHEN", "TAG", "IN") ? statement.list((each) => each.text()) : [];
  if (!statement.accepts("EXECUTE", "FUNCTION") && !statement.accepts("EXECUTE", "PROCEDURE")) return false;
  const called = statement.qualified();
  const [schema, own] = called?.length === 1 ? ["pg_catalog", called[0]] : (called ?? []);
  if (name === null || event === null || tags === null || !statement.accepts("(", ")")) return false;
  if (schema === undefined || own === undefined) return false;
  return found.addTrigger(name, [name, event, listText(tags), schema, own]);
}

function changedEventTrigger(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  if (name === null) return false;
  if (statement.accepts("DISABLE")) return found.enable(name, "D");
  if (statement.accepts("ENABLE", "ALWAYS")) return found.enable(name, "A");
  if (statement.accepts("ENABLE", "REPLICA")) return found.enable(name, "R");
  if (statement.accepts("ENABLE")) return found.enable(name, "O");
  return ownedBy(found, statement, "event trigger", name);
}

function owner(what: string): Read {
  return (found, statement) => {
    const name = statement.name();
    return name !== null && ownedBy(found, statement, what, name);
  };
}

function ownedBy(found: FoundInDump, statement: StatementReader, what: string, name: string): boolean {
  const role = statement.accepts("OWNER", "TO") ? statement.name() : null;
  return role !== null && found.add("owner", `${what} ${name}`, [what, name, role]);
}

function comment(what: string): Read {
  return (found, statement) => {
    const name = statement.name();
    const text = statement.accepts("IS") ? statement.text() : null;
    return name !== null && text !== null && found.add("comment", `${what} ${name}`, [what, name, text]);
  };
}

/** A copy gets the comment too, after that of the extension that is installed there. */
function extensionComment(found: FoundInDump, statement: StatementReader): boolean {
  const name = statement.name();
  const text = statement.accepts("IS") ? statement.text() : null;
  return name !== null && text !== null && found.add("extension_comment", name, [name, text]);
}

/** What has a label, by the first word of what is labelled. */
const LABELLED: ReadonlyMap<string, UnrestoredKind> = new Map([
  ...[
    "SCHEMA",
    "TABLE",
    "VIEW",
    "MATERIALIZED",
    "FOREIGN",
    "SEQUENCE",
    "COLUMN",
    "FUNCTION",
    "PROCEDURE",
    "AGGREGATE",
    "DOMAIN",
    "TYPE",
    "PUBLICATION",
    "EVENT",
  ].map((what) => [what, "security_label"] as const),
  ["LARGE", "large_object_label"],
  ["DATABASE", "database_label"],
]);

/** Labels of anything else are not part of the list. */
function securityLabel(found: FoundInDump, statement: StatementReader): boolean {
  const provider = statement.name();
  const target = statement.accepts("ON") ? statement.until("IS") : null;
  const label = statement.accepts("IS") ? statement.text() : null;
  if (provider === null || target === null || label === null) return false;
  const kind = LABELLED.get(target[0] ?? "");
  if (kind === undefined) return true;
  if (kind === "database_label") return found.add(kind, provider, [provider, label]);
  const on = target.join(" ");
  return found.add(kind, `${provider} ${on}`, [provider, on, label]);
}
