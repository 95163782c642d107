import { createHmac } from "node:crypto";
import type { SourceMetadata } from "../../engine.ts";
import type { PsqlSession } from "../psql-session.ts";
import { rowsOf } from "../schema.ts";
import { outputOf } from "../session-error.ts";
import type { TableContent } from "./copy-digests.ts";
import { contentDigest } from "./content-digest.ts";
import { describeObjects, type ObjectsMetadata } from "./describe-objects.ts";
import type { DatabaseObject } from "./objects.ts";
import type { ArchiveContent } from "./read-archive.ts";
import {
  type CatalogueTable,
  catalogueTables,
  CONTENT_TABLES,
  LARGE_OBJECTS,
  NOT_COMPARED,
  VALUE_SETTINGS,
  type ValueSettings,
  whyNotCompared,
} from "./tables.ts";

/** What a source's catalogue says of what can be compared. */
export interface ContentFacts {
  readonly settings: ValueSettings;
  readonly tables: readonly CatalogueTable[];
  readonly others: readonly NotCompared[];
}

export interface NotCompared {
  readonly name: string;
  readonly why: string;
}

/** Signed in a backup's metadata. */
export interface ContentMetadata {
  /** Tables with a digest. */
  readonly tables: number;
  /**
   * Of `contentDigest`, over those that are named, and `REST` with the digest of the others; null
   * where there are none.
   */
  readonly sha256: string | null;
  /** Those of them that `tables` of the metadata does not name. */
  readonly rest: { readonly tables: number; readonly sha256: string } | null;
  /** The tag of all large objects, as of a table. */
  readonly large_objects?: string;
  readonly settings: (ValueSettings & { readonly client_encoding: string }) | null;
  readonly not_compared: { readonly count: number; readonly named: readonly NotCompared[] };
  /** Everything besides rows; absent where it could not be listed or changed during the dump. */
  readonly objects?: ObjectsMetadata;
}

/** In the digest over everything, the name of all tables that have no name in the metadata. */
export const REST = "";
/** Names of what is not compared that a receipt has room for. */
export const MAX_NOT_COMPARED = 40;
const MAX_NAME = 300;

/** In the transaction of the dump's snapshot. @throws RunError, SessionEnded */
export async function contentFacts(session: PsqlSession): Promise<ContentFacts> {
  const list = async (sql: string, what: string): Promise<string> => outputOf(await session.run(sql), what);
  const [[bytea_output = "", quote_all_identifiers = "", lc_monetary = ""] = []] = rowsOf(
    await list(VALUE_SETTINGS, "asking for the settings"),
  );
  return {
    settings: { bytea_output, quote_all_identifiers, lc_monetary },
    tables: catalogueTables(await list(CONTENT_TABLES, "listing the tables")),
    others: rowsOf(await list(NOT_COMPARED, "listing what else holds data")).map(([why = "", name = ""]) => ({
      name,
      why,
    })),
  };
}

/**
 * What of a table's content is signed: HMAC-SHA-256, its first half in hex, over the JSON array of
 * schema, table, columns and the SHA-256 of the rows. The key is the backup's own, so that whoever
 * reads a receipt can try no guesses.
 */
export function contentTag(key: Buffer, { schema, table, columns, sha256 }: TableContent): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([schema, table, columns, sha256]))
    .digest("hex")
    .slice(0, 32);
}

/** A database's own key, where a backup has several. */
export function contentKeyOf(key: Buffer, database: string): Buffer {
  return createHmac("sha256", key).update(database).digest();
}

/** The objects as they were listed before and after the dump. */
export interface ListedObjects {
  readonly before: readonly DatabaseObject[] | null;
  readonly after: readonly DatabaseObject[] | null;
}

/**
 * The metadata with what is known of the content. `archive` is null where the dump could not be
 * read beside.
 */
export function withContent(
  metadata: SourceMetadata,
  { settings, tables, others }: ContentFacts,
  { before, after }: ListedObjects,
  archive: ArchiveContent | null,
  key: Buffer,
): SourceMetadata {
  const objects = describeObjects(before, after, archive?.sequences ?? null, key);
  const found = new Map(archive?.tables.map((each) => [nameKey(each), each]));
  const lines = archive?.largeObjects ?? null;
  const tags = new Map<string, string>();
  const notCompared: NotCompared[] = [];
  for (const table of tables) {
    const content =
      table.name !== LARGE_OBJECTS
        ? found.get(nameKey(table))
        : lines === null
          ? undefined
          : { ...table, sha256: lines };
    const why =
      whyNotCompared(table, settings) ??
      (archive === null ? "dump_not_read" : content === undefined ? "not_in_dump" : null);
    if (why !== null || content === undefined)
      notCompared.push({ name: table.name, why: why ?? "not_in_dump" });
    else tags.set(table.name, contentTag(key, content));
  }
  const named = (metadata["tables"] as readonly { readonly name: string }[]).map((table) => {
    const tag = tags.get(table.name);
    return tag === undefined ? table : { ...table, content: tag };
  });
  const largeObjects = tags.get(LARGE_OBJECTS);
  const names = new Set([LARGE_OBJECTS, ...named.map(({ name }) => name)]);
  const listed = [...tags].filter(([name]) => names.has(name));
  const unlisted = [...tags].filter(([name]) => !names.has(name));
  const rest = unlisted.length === 0 ? null : { tables: unlisted.length, sha256: contentDigest(unlisted) };
  const all = [...notCompared, ...others];
  const content: ContentMetadata = {
    tables: tags.size,
    sha256: tags.size === 0 ? null : contentDigest(rest === null ? listed : [...listed, [REST, rest.sha256]]),
    rest,
    ...(largeObjects === undefined ? {} : { large_objects: largeObjects }),
    settings: archive === null ? null : { ...settings, client_encoding: archive.encoding },
    not_compared: {
      count: all.length,
      named: all.slice(0, MAX_NOT_COMPARED).map(({ name, why }) => ({ name: name.slice(0, MAX_NAME), why })),
    },
    ...(objects === null ? {} : { objects }),
  };
  return { ...metadata, tables: named, content };
}

function nameKey({ schema, table }: Pick<TableContent, "schema" | "table">): string {
  return JSON.stringify([schema, table]);
}
