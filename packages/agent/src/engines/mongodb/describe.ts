import { BSON, type Document } from "mongodb";
import type { MongoClient } from "mongodb";
import type { SchemaLine } from "../schema.ts";

/** The server's own databases. A test never restores them. */
export const OWN_DATABASES: readonly string[] = ["admin", "config", "local"];

/** A collection with documents of its own, or a view. */
export interface Namespace {
  readonly database: string;
  readonly collection: string;
  readonly isView: boolean;
}

/** As in metadata, checks and mongodump: `shop.orders`. */
export function nameOf({ database, collection }: Namespace): string {
  return `${database}.${collection}`;
}

export interface Look {
  readonly namespaces: readonly Namespace[];
  readonly lines: readonly SchemaLine[];
}

/** Databases that are not empty, sorted by name. */
export async function databasesOf(client: MongoClient): Promise<string[]> {
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  return databases
    .map(({ name }) => name)
    .filter((name) => !OWN_DATABASES.includes(name))
    .toSorted();
}

/**
 * Collections, views, their options and indexes, which a restored copy must have too. It does not
 * depend on documents, on the collections' ids, or on the version of an index's format.
 */
export async function look(client: MongoClient, databases: readonly string[]): Promise<Look> {
  const namespaces: Namespace[] = [];
  const lines: SchemaLine[] = [];
  for (const database of databases) {
    const db = client.db(database);
    const listed = await db.listCollections({}, { nameOnly: false }).toArray();
    for (const { name: collection, type, options } of listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (collection.startsWith("system.")) continue;
      const namespace = { database, collection, isView: type === "view" };
      const relation = nameOf(namespace);
      namespaces.push(namespace);
      lines.push({
        kind: namespace.isView ? "view" : "collection",
        relation,
        name: "",
        definition: textOf({
          ...(type === "timeseries" ? { type } : {}),
          ...without(options ?? {}, ["uuid"]),
        }),
      });
      if (namespace.isView) continue;
      for (const index of await db.collection(collection).listIndexes().toArray()) {
        const { key, name, ...options_ } = index as { key: Document; name: string } & Document;
        const more = textOf(without(options_, ["v", "ns", "background"]));
        const definition = `${BSON.EJSON.stringify(key)}${more === "" ? "" : ` ${more}`}`;
        lines.push({ kind: "index", relation, name, definition });
      }
    }
  }
  return { namespaces, lines };
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
