import { BSON, type Document } from "mongodb";
import { NOT_READ } from "../../content/compare-declared.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { exactJson } from "../exact-document.ts";
import { indexOf, type ListedCollection, nameOf, withoutIds } from "../describe.ts";
import { isOwnDatabase } from "../own-databases.ts";

/** Keeping a result takes about that much memory. */
const MAX_BYTES = 64 << 20;

/**
 * Reads the documents before an archive's content in which mongodump says what each collection is.
 */
export class DeclaredCollections {
  readonly #objects: DatabaseObject[] = [];
  #left = MAX_BYTES;
  #isRead = true;

  add(document: Buffer): void {
    this.#left -= document.length;
    if (this.#left < 0) this.#isRead = false;
    if (!this.#isRead) return;
    const listed = listedIn(document);
    if (listed === "unknown") this.#isRead = false;
    else if (listed !== null) this.#objects.push(...objectsOfCollection(listed));
  }

  /** Null if one of them was not understood. */
  end(): readonly DatabaseObject[] | null {
    return this.#isRead ? this.#objects : null;
  }
}

/** A collection or view, each of its options and each of its indexes. */
export function objectsOfCollection(listed: ListedCollection): DatabaseObject[] {
  const name = nameOf(listed);
  const type = listed.type === "timeseries" ? listed.type : "";
  return [
    { kind: listed.isView ? "view" : "collection", name, definition: `of kind ${type}` },
    ...Object.entries(withoutIds(listed.options)).map(([option, value]) => ({
      kind: "option",
      name: `${name} ${option}`,
      definition: BSON.EJSON.stringify({ value: value as unknown }),
    })),
    ...listed.indexes.map((index) => {
      const { name: own, definition } = indexOf(index);
      return { kind: "index", name: `${name} ${own}`, definition: definition || NOT_READ };
    }),
  ];
}

/**
 * Null for collections that a test does not restore, and for the document that describes the
 * archive.
 */
function listedIn(bytes: Buffer): ListedCollection | "unknown" | null {
  try {
    const { db: database, collection, metadata, type } = BSON.deserialize(bytes);
    if (metadata === undefined) return null;
    if (typeof database !== "string" || typeof collection !== "string" || typeof metadata !== "string")
      return "unknown";
    if (isOwnDatabase(database) || collection.startsWith("system.")) return null;
    const { options = {}, indexes = [] } = metadata === "" ? {} : exactJson(metadata);
    const isView = type === "view";
    return isDocument(options) && Array.isArray(indexes) && indexes.every(isIndex)
      ? { database, collection, isView, type: String(type), options, indexes: isView ? [] : indexes }
      : "unknown";
  } catch {
    return "unknown";
  }
}

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isIndex(value: unknown): value is Document {
  return isDocument(value) && typeof value["name"] === "string" && isDocument(value["key"]);
}
