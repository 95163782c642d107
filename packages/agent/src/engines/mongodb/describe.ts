import { BSON, type Db, type Document, type MongoClient, MongoServerError } from "mongodb";
import type { DatabaseObject } from "../content/tagged-objects.ts";
import type { SchemaLine } from "../schema.ts";
import { exactDocument, plainDocument } from "./exact-document.ts";
import { exactObjects, type ServerCollection } from "./exact-objects.ts";
import { isOwnDatabase } from "./own-databases.ts";

const NAMESPACE_NOT_FOUND = 26;
/** The collection of a database's functions, the only one with such a name that a dump has. */
export const STORED_FUNCTIONS = "system.js";

/** A collection with documents of its own, or a view. */
export interface Namespace {
  readonly database: string;
  readonly collection: string;
  readonly isView: boolean;
  /** The server keeps several of its documents in one, and mongodump dumps and counts these. */
  readonly isTimeseries?: true;
  /** What a capped collection takes. */
  readonly capped?: Capped;
}

export interface Capped {
  readonly bytes: bigint;
  /** Null for any number. */
  readonly documents: bigint | null;
}

/** As in metadata, checks and mongodump: `shop.orders`. */
export function nameOf({ database, collection }: Namespace): string {
  return `${database}.${collection}`;
}

export interface Look {
  readonly namespaces: readonly Namespace[];
  /** For the schema hash. Names that are numbers are sorted, and numbers beyond 2^53 rounded. */
  readonly lines: readonly SchemaLine[];
  readonly objects: readonly DatabaseObject[];
  /** The same as earlier agents made it, which mongorestore may change in an honest copy. */
  readonly earlier: {
    /** For the schema hash, and objects of version 1. */
    readonly lines: readonly SchemaLine[];
    /** Objects of version 2. */
    readonly exact: readonly SchemaLine[];
  };
}

/** Databases that are not empty, sorted by name. */
export async function databasesOf(client: MongoClient): Promise<string[]> {
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  return databases
    .map(({ name }) => name)
    .filter((name) => !isOwnDatabase(name))
    .toSorted();
}

/** A collection or view as a server lists it. */
export interface ListedCollection extends Namespace {
  /** Such as `collection`, `view` or `timeseries`. */
  readonly type: string;
  readonly options: Document;
  readonly indexes: readonly Document[];
}

interface RawCollection extends ServerCollection {
  readonly namespace: Namespace;
}

interface Listed {
  readonly collections: readonly RawCollection[];
  /** Collections of the functions that databases store. */
  readonly functions: readonly ServerCollection[];
}

/** All but the server's own, sorted by name. `exactDocument` has their options and indexes. */
export async function listCollections(
  client: MongoClient,
  databases: readonly string[],
): Promise<readonly ListedCollection[]> {
  const { collections } = await rawCollections(client, databases);
  return collections.map((each) => readWith(exactDocument, each));
}

async function rawCollections(client: MongoClient, databases: readonly string[]): Promise<Listed> {
  const found: RawCollection[] = [];
  const functions: ServerCollection[] = [];
  for (const database of databases) {
    const db = client.db(database);
    const replies = await db.listCollections({}, { nameOnly: false, raw: true }).toArray();
    const listed = (replies as unknown as Uint8Array[]).map((bytes) => ({ bytes, ...listedIn(bytes) }));
    for (const { bytes, collection, type, capped } of listed.toSorted((a, b) =>
      a.collection < b.collection ? -1 : 1,
    )) {
      if (collection === STORED_FUNCTIONS)
        functions.push({ database, collection, isView: false, listed: bytes, indexes: [] });
      if (collection.startsWith("system.")) continue;
      const isView = type === "view";
      const indexes = isView ? [] : await indexesOf(db, collection);
      // Somebody dropped it meanwhile.
      if (indexes === null) continue;
      const namespace: Namespace = {
        database,
        collection,
        isView,
        ...(type === "timeseries" ? { isTimeseries: true } : {}),
        ...(capped === null ? {} : { capped }),
      };
      found.push({ database, collection, isView, namespace, listed: bytes, indexes });
    }
  }
  return { collections: found, functions };
}

/** Null if there is no such collection. */
async function indexesOf(db: Db, collection: string): Promise<readonly Uint8Array[] | null> {
  try {
    const listed = await db.collection(collection).listIndexes({ raw: true }).toArray();
    return listed as unknown as Uint8Array[];
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return null;
    throw error;
  }
}

function listedIn(bytes: Uint8Array): {
  readonly collection: string;
  readonly type: unknown;
  readonly capped: Capped | null;
} {
  const { name, type, options } = plainDocument(bytes);
  return { collection: String(name), type, capped: cappedOf((options as Document | undefined) ?? {}) };
}

function cappedOf({ capped, size, max }: Document): Capped | null {
  if (capped !== true) return null;
  const documents = wholeOf(max);
  // 0 stands for any number.
  return { bytes: wholeOf(size) ?? 0n, documents: documents === 0n ? null : documents };
}

function wholeOf(number: unknown): bigint | null {
  if (typeof number === "bigint") return number;
  return typeof number === "number" && Number.isInteger(number) ? BigInt(number) : null;
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
  const { collections: found, functions } = await rawCollections(client, databases);
  const namespaces = found.map(({ namespace }) => namespace);
  const linesWith = (read: (bytes: Uint8Array) => Document, indexLineOf = indexOf): SchemaLine[] =>
    found.flatMap((each) => linesOf(readWith(read, each), indexLineOf));
  return {
    namespaces,
    lines: linesWith(plainDocument),
    objects: [...found, ...functions].flatMap(exactObjects),
    earlier: {
      lines: linesWith(plainDocument, earlierIndexOf),
      exact: linesWith(exactDocument, earlierIndexOf),
    },
  };
}

function linesOf(each: ListedCollection, indexLineOf: typeof indexOf): SchemaLine[] {
  const relation = nameOf(each);
  const { type } = each;
  const definition = textOf({ ...(type === "timeseries" ? { type } : {}), ...withoutIds(each.options) });
  return [
    { kind: each.isView ? "view" : "collection", relation, name: "", definition },
    ...each.indexes.map((index) => ({ kind: "index", relation, ...indexLineOf(index) })),
  ];
}

/** Options without those that a restore does not bring back, and need not: `exactObjects` too. */
export function withoutIds(options: Document): Document {
  const isDefault = options["autoIndexId"] === true;
  return without(options, ["uuid", "recordIdsReplicated", ...(isDefault ? ["autoIndexId"] : [])]);
}

export function indexOf(index: Document): { readonly name: string; readonly definition: string } {
  const projection: unknown = index["wildcardProjection"];
  return earlierIndexOf(
    projection === undefined ? index : { ...index, wildcardProjection: inAnyOrder(projection) },
  );
}

function earlierIndexOf({ key, name, ...options }: Document): ReturnType<typeof indexOf> {
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

/** mongorestore may change the order of names there, which means nothing. */
function inAnyOrder(value: unknown): unknown {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, each]) => [name, inAnyOrder(each)]),
      )
    : value;
}

function without(document: Document, names: readonly string[]): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));
}
