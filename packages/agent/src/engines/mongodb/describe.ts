import { BSON, type Document } from "mongodb";
import type { MongoClient } from "mongodb";
import type { SchemaLine } from "../schema.ts";
import { exactDocument, plainDocument } from "./exact-document.ts";

/** The server's own databases. A test never restores them. */
export const OWN_DATABASES: readonly string[] = ["admin", "config", "local"];

/** A collection with documents of its own, or a view. */
export interface Namespace {
  readonly database: string;
  readonly collection: string;
  readonly isView: boolean;
  /** The server keeps several of its documents in one, and mongodump dumps and counts these. */
  readonly isTimeseries?: true;
}

/** As in metadata, checks and mongodump: `shop.orders`. */
export function nameOf({ database, collection }: Namespace): string {
  return `${database}.${collection}`;
}

export interface Look {
  readonly namespaces: readonly Namespace[];
  /**
   * For the schema hash. Names that are numbers are sorted, and numbers beyond 2^53 rounded, as in
   * objects of version 1.
   */
  readonly lines: readonly SchemaLine[];
  /** Objects of version 2. */
  readonly exact: readonly SchemaLine[];
}

/** Databases that are not empty, sorted by name. */
export async function databasesOf(client: MongoClient): Promise<string[]> {
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  return databases
    .map(({ name }) => name)
    .filter((name) => !OWN_DATABASES.includes(name))
    .toSorted();
}

/** A collection or view as a server lists it. */
export interface ListedCollection extends Namespace {
  /** Such as `collection`, `view` or `timeseries`. */
  readonly type: string;
  readonly options: Document;
  readonly indexes: readonly Document[];
}

/** One as a server's reply has it, in BSON. */
interface RawCollection extends Namespace {
  readonly listed: Uint8Array;
  readonly indexes: readonly Uint8Array[];
}

/** All but the server's own, sorted by name. `exactDocument` has their options and indexes. */
export async function listCollections(
  client: MongoClient,
  databases: readonly string[],
): Promise<readonly ListedCollection[]> {
  return (await rawCollections(client, databases)).map((each) => readWith(exactDocument, each));
}

async function rawCollections(
  client: MongoClient,
  databases: readonly string[],
): Promise<readonly RawCollection[]> {
  const found: RawCollection[] = [];
  for (const database of databases) {
    const db = client.db(database);
    const replies = await db.listCollections({}, { nameOnly: false, raw: true }).toArray();
    const listed = (replies as unknown as Uint8Array[]).map((bytes) => ({ bytes, ...nameAndType(bytes) }));
    for (const { bytes, collection, type } of listed.toSorted((a, b) =>
      a.collection < b.collection ? -1 : 1,
    )) {
      if (collection.startsWith("system.")) continue;
      const isView = type === "view";
      const indexes = isView ? [] : await db.collection(collection).listIndexes({ raw: true }).toArray();
      found.push({
        database,
        collection,
        isView,
        ...(type === "timeseries" ? { isTimeseries: true } : {}),
        listed: bytes,
        indexes: indexes as unknown as Uint8Array[],
      });
    }
  }
  return found;
}

function nameAndType(bytes: Uint8Array): { readonly collection: string; readonly type: unknown } {
  const { name, type } = plainDocument(bytes);
  return { collection: String(name), type };
}

function readWith(
  read: (bytes: Uint8Array) => Document,
  { database, collection, isView, listed, indexes }: RawCollection,
): ListedCollection {
  const { type, options } = read(listed);
  return {
    database,
    collection,
    isView,
    type: typeof type === "string" ? type : "collection",
    options: (options as Document | undefined) ?? {},
    indexes: indexes.map(read),
  };
}

/**
 * Collections, views, their options and indexes, which a restored copy must have too. It does not
 * depend on documents, on the collections' ids, or on the version of an index's format.
 */
export async function look(client: MongoClient, databases: readonly string[]): Promise<Look> {
  const found = await rawCollections(client, databases);
  const namespaces = found.map(({ database, collection, isView, isTimeseries }): Namespace => ({
    database,
    collection,
    isView,
    ...(isTimeseries === true ? { isTimeseries } : {}),
  }));
  const linesWith = (read: (bytes: Uint8Array) => Document): SchemaLine[] =>
    found.flatMap((each) => linesOf(readWith(read, each)));
  return { namespaces, lines: linesWith(plainDocument), exact: linesWith(exactDocument) };
}

function linesOf(each: ListedCollection): SchemaLine[] {
  const relation = nameOf(each);
  const { type } = each;
  const definition = textOf({ ...(type === "timeseries" ? { type } : {}), ...withoutIds(each.options) });
  return [
    { kind: each.isView ? "view" : "collection", relation, name: "", definition },
    ...each.indexes.map((index) => ({ kind: "index", relation, ...indexOf(index) })),
  ];
}

/** Options without the id, which each server makes itself. */
export function withoutIds(options: Document): Document {
  return without(options, ["uuid"]);
}

export function indexOf({ key, name, ...options }: Document): {
  readonly name: string;
  readonly definition: string;
} {
  const more = textOf(without(options, ["v", "ns", "background"]));
  const keys = BSON.EJSON.stringify(key as Document);
  return { name: String(name), definition: `${keys}${more === "" ? "" : ` ${more}`}` };
}

/**
 * Sorted by name, because the order of options means nothing. The order of an index's keys matters
 * and stays.
 */
function textOf(options: Document): string {
  const entries = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? "" : BSON.EJSON.stringify(Object.fromEntries(entries) as Document);
}

function without(document: Document, names: readonly string[]): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));
}
