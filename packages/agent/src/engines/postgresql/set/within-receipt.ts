import type { SourceMetadata } from "../../engine.ts";
import type { ContentMetadata } from "../../content/signed-content.ts";
import type { RowCounts } from "../../row-counts.ts";
import { nameInSet } from "../name-in-set.ts";
import type { OtherObjects } from "../content/other-objects.ts";

/** A set's metadata: those of every engine, and the set's own. */
export interface SetMetadata extends SourceMetadata {
  readonly globals: { readonly roles: readonly string[]; readonly [more: string]: unknown } | null;
  readonly databases: readonly DatabaseOfReceipt[];
  readonly tables: readonly { readonly name: string }[];
  readonly schema_summary: { readonly objects: readonly unknown[]; readonly omitted: number };
  readonly other_objects?: OtherObjects;
}

interface DatabaseOfReceipt {
  readonly name: string;
  readonly extensions: unknown;
  readonly named_roles: unknown;
  readonly row_counts: RowCounts;
  readonly content?: ContentMetadata;
}

/**
 * Bytes of JSON. With 32 recipients of 1 KiB, and in base64, this is just within the 256 KiB of a
 * receipt.
 */
const ROOM = 150 * 1024;
const ROOM_OF_EXTENSIONS = 8 * 1024;
const ROOM_OF_ROLES = 16 * 1024;
const ROOM_OF_GLOBALS = 12 * 1024;

/**
 * Shortens the metadata if the service would refuse the receipt as too large. First, extensions and
 * roles become one list each for all databases, because a restore needs them all in one server.
 * `…_omitted` counts those that still do not fit. Next, the summary of the schemas, the names of
 * other objects and some of the tables go; `omitted`, `kinds` and `table_count` tell how many.
 */
export function withinReceipt(
  metadata: SetMetadata,
  /** The same tables, the most important first. */
  ranked: readonly object[],
): SourceMetadata {
  if (bytesOf(metadata) <= ROOM) return metadata;
  const { globals, databases, tables, schema_summary: summary, other_objects: others } = metadata;
  const extensions = distinct(databases.flatMap((database) => listOf(database.extensions)));
  const roles = distinct(databases.flatMap((database) => listOf(database.named_roles)));
  const keptExtensions = fitting(extensions, ROOM_OF_EXTENSIONS);
  const keptRoles = fitting(roles, ROOM_OF_ROLES);
  const shared = {
    ...metadata,
    globals: globals === null ? null : { ...globals, roles: fitting(globals.roles, ROOM_OF_GLOBALS) },
    databases: databases.map(({ extensions: _each, named_roles: _theirs, ...more }) => more),
    extensions: keptExtensions,
    named_roles: keptRoles,
    ...(keptExtensions.length < extensions.length
      ? { extensions_omitted: extensions.length - keptExtensions.length }
      : {}),
    ...(keptRoles.length < roles.length ? { named_roles_omitted: roles.length - keptRoles.length } : {}),
  };
  if (bytesOf(shared) <= ROOM) return shared;
  const { objects, omitted } = summary;
  const unsummed = {
    ...shared,
    schema_summary: { objects: [], omitted: omitted + objects.length },
    ...(others === undefined ? {} : { other_objects: { ...others, named: [] } }),
  };
  const room = ROOM - bytesOf({ ...unsummed, tables: [] });
  const kept = new Set(fitting(ranked, room));
  const cut = tables.filter((table) => !kept.has(table)).map(({ name }) => name);
  return {
    ...unsummed,
    // Tables that lose their names here are in no digest, so nothing compares them.
    databases: unsummed.databases.map((database) =>
      cut.some((name) => name.startsWith(nameInSet(database.name, "")))
        ? {
            ...database,
            row_counts: { ...database.row_counts, rest: null },
            ...(database.content === undefined ? {} : { content: { ...database.content, rest: null } }),
          }
        : database,
    ),
    tables: tables.filter((table) => kept.has(table)),
  };
}

function fitting<Item>(items: readonly Item[], room: number): Item[] {
  let left = room;
  return items.filter((item) => (left -= bytesOf(item) + 1) >= 0);
}

function distinct(items: readonly unknown[]): unknown[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
