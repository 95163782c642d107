import { createHmac } from "node:crypto";
import { contentDigest } from "./content-digest.ts";

/** Part of a database that is not a row of a table, as the server describes it. */
export interface DatabaseObject {
  /** `index`, `trigger`, `function`, … */
  readonly kind: string;
  readonly name: string;
  /** Everything about it that a restore must bring back. */
  readonly definition: string;
}

/** Signed in a backup's metadata, in its first version. */
export interface ObjectsMetadata extends ObjectDigests {
  readonly count: number;
}

/**
 * The second version, of engines whose first one left something out of definitions. Testers that
 * know only the first one find no `count`, so they compare nothing, and say so.
 */
export interface ExactObjectsMetadata extends ObjectDigests {
  /**
   * Of `objects`. 3: with those of PostgreSQL's `more-objects.ts`. 4 and 5: with more of these. 5
   * also of SQLite, see `sqlite/content/objects.ts`, of MongoDB, see `mongodb/exact-objects.ts`,
   * and of MariaDB and MySQL, see `mariadb/content/expected-objects.ts`.
   * Of `unrestored`. 3: with the settings of the database. 4: with its comment and its limits.
   * 5: with its locale, and with tablespaces.
   * Of `privileges`. 3: with large objects and the owner of the schema `public`. 4: without
   * functions that a type brings with it. 5: with conversions and the options of user mappings. 6:
   * with the owner of the database. 7: with its grants. 8: with grants on objects of the server and
   * of extensions that a dump adds.
   */
  readonly v: 2 | 3 | 4 | 5 | 6 | 7 | 8;
  readonly total: number;
}

export interface ObjectDigests {
  /** Over the kinds, each with its digest. */
  readonly sha256: string;
  /**
   * For each kind, the number of objects and a digest over their names and tags. Empty if they do
   * not fit into the receipt.
   */
  readonly kinds: Readonly<Record<string, { readonly count: number; readonly sha256: string }>>;
  /** Kind, name and the first half of the tag, for as many objects as fit. */
  readonly named: readonly (readonly [kind: string, name: string, tag: string])[];
  /** Objects that are not compared, and kinds (null) of which none is. Absent if there are none. */
  readonly left_out?: readonly (readonly [kind: string, name: string | null])[];
}

/** The objects of one kind, by name, each with its tag. */
export type TaggedKinds = ReadonlyMap<string, readonly (readonly [name: string, tag: string])[]>;

/** A receipt has room for this many names of objects, and for this many bytes of them. */
export const MAX_NAMED = 200;
const MAX_NAMED_BYTES = 12 * 1024;
const MAX_NAME = 200;

/**
 * The tag of one object: HMAC-SHA-256 over the JSON array of kind, name and definition, its first
 * half in hex.
 */
export function taggedKinds(objects: readonly DatabaseObject[], key: Buffer): TaggedKinds {
  const kinds = new Map<string, [name: string, tag: string][]>();
  for (const { kind, name, definition } of objects) {
    const tag = createHmac("sha256", key)
      .update(JSON.stringify([kind, name, definition]))
      .digest("hex")
      .slice(0, 32);
    const own = kinds.get(kind) ?? [];
    own.push([name, tag]);
    kinds.set(kind, own);
  }
  return kinds;
}

/** One digest over everything. */
export function objectsDigest(kinds: TaggedKinds): string {
  return contentDigest([...kinds].map(([kind, tags]) => [kind, contentDigest(tags)]));
}

export function countOf(kinds: TaggedKinds): number {
  return [...kinds.values()].reduce((total, { length }) => total + length, 0);
}

export function exactObjectsMetadata(
  objects: readonly DatabaseObject[],
  key: Buffer,
  v: ExactObjectsMetadata["v"] = 2,
): ExactObjectsMetadata {
  const { count, ...digests } = objectsMetadata(objects, key);
  return { v, total: count, ...digests };
}

export function objectsMetadata(objects: readonly DatabaseObject[], key: Buffer): ObjectsMetadata {
  const kinds = taggedKinds(objects, key);
  let room = MAX_NAMED_BYTES;
  const named = [...kinds]
    .flatMap(([kind, tags]) => tags.map(([name, tag]) => [kind, name, tag.slice(0, 16)] as const))
    .filter(([, name]) => name.length <= MAX_NAME)
    .slice(0, MAX_NAMED)
    .filter((each) => (room -= Buffer.byteLength(JSON.stringify(each)) + 1) >= 0);
  return {
    count: countOf(kinds),
    sha256: objectsDigest(kinds),
    kinds: Object.fromEntries(
      [...kinds].map(([kind, tags]) => [kind, { count: tags.length, sha256: contentDigest(tags) }]),
    ),
    named,
  };
}
