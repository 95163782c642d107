import { closeSync, openSync, readSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { MADE } from "../made-objects.ts";
import { type TextInHex, textInHex } from "./text-in-hex.ts";

/**
 * Which list of objects is signed. Version 5 has every row of the schema byte by byte, the order of
 * triggers, and more of the header. Testers that know version 1 alone know versions 2 to 4 of other
 * engines too, and would compare these as if they were the first.
 */
export type ObjectsVersion = (typeof OBJECTS_VERSIONS)[number];
export const OBJECTS_VERSIONS = [1, 5] as const;
export const OBJECTS_VERSION = 5;

/**
 * Each row as it is in the file: as texts, bytes that are no valid text would all be the same
 * character.
 */
const EXACT = (hex: TextInHex): string =>
  `select type, name, ${hex("name")} || ' ' || ${hex("tbl_name")} || ' ' || coalesce(${hex("sql")}, '') as definition
  from sqlite_schema order by rowid`;
const EARLIER = `select type, name, tbl_name || ' ' || coalesce(sql, '') as definition from (${MADE} order by rowid)`;
/** SQLite runs the triggers of a table in the order in which they were made, the newest first. */
const TRIGGERS = (hex: TextInHex): string =>
  `select tbl_name as name, group_concat(${hex("name")}, ' ') as definition
  from (select * from sqlite_schema where type = 'trigger' order by rowid) group by tbl_name having count(*) > 1`;
/** What an application sets in the header or relies on, and SQLite tells. */
const SETTINGS = ["application_id", "auto_vacuum", "encoding", "user_version"];
/**
 * Other fields of the header (sqlite.org/fileformat.html, 1.3), each with its first byte and its
 * length. Those that are left out change whenever somebody writes, or have one value only.
 */
const HEADER: Readonly<Record<string, readonly [at: number, bytes: number]>> = {
  page_size: [16, 2],
  // One each for writers and readers: 2 is WAL mode.
  journal_mode: [18, 2],
  reserved_bytes: [20, 1],
  schema_format: [44, 4],
  default_cache_size: [48, 4],
  reserved_for_expansion: [72, 20],
};
const HEADER_BYTES = 100;

/** Everything in a database besides rows. `file` has its header. */
export function objectsOf(database: DatabaseSync, version: ObjectsVersion, file: string): DatabaseObject[] {
  const listed = (sql: string, kind?: string): DatabaseObject[] =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({
        kind: kind ?? String(row["type"]),
        name: String(row["name"]),
        definition: String(row["definition"]),
      }));
  const settings = SETTINGS.map((name) => ({
    kind: "setting",
    name,
    definition: String(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]),
  }));
  if (version === 1) return [...listed(EARLIER), ...settings];
  const hex = textInHex(database, true);
  return [...listed(EXACT(hex)), ...listed(TRIGGERS(hex), "trigger_order"), ...settings, ...headerOf(file)];
}

function headerOf(file: string): DatabaseObject[] {
  const header = Buffer.alloc(HEADER_BYTES);
  const fd = openSync(file, "r");
  try {
    readSync(fd, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(fd);
  }
  return Object.entries(HEADER).map(([name, [at, bytes]]) => ({
    kind: "setting",
    name,
    definition: header.toString("hex", at, at + bytes),
  }));
}
