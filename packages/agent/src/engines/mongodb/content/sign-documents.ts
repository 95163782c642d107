import { contentTag } from "../../content/content-tag.ts";
import { withKnownRest } from "../../content/known-rest.ts";
import type { NotCompared } from "../../content/not-compared.ts";
import { signContent } from "../../content/signed-content.ts";
import { type DatabaseObject, exactObjectsMetadata } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import type { SchemaLine } from "../../schema.ts";
import type { CollectionContent } from "./archive-digests.ts";

/** What a dump contains. */
export interface DumpedDocuments {
  /** Null if its archive was not understood. */
  readonly collections: readonly CollectionContent[] | null;
  /** As mongodump itself counted them, by name. */
  readonly written: ReadonlyMap<string, bigint>;
  /** See `Look`. */
  readonly exact: readonly SchemaLine[];
  /** Kinds of which the source may have some that nobody saw. */
  readonly leftOut: readonly string[];
}

/**
 * Adds to the metadata of a dump what its collections hold. `names` are those that a test restores.
 */
export function signDocuments(
  metadata: SourceMetadata,
  { collections, written, exact, leftOut }: DumpedDocuments,
  { names, key }: { readonly names: readonly string[]; readonly key: Buffer },
): SourceMetadata {
  const found = new Map(collections?.map((each) => [nameOf(each), each]));
  const tags = new Map<string, string>();
  const notKnown: NotCompared[] = [];
  for (const name of names) {
    const content = found.get(name);
    if (content !== undefined && content.documents === written.get(name))
      tags.set(name, documentsTag(key, content));
    else notKnown.push({ name, why: collections === null ? "dump_not_read" : "not_in_dump" });
  }
  const known = withKnownRest(metadata, tags, notKnown);
  const others = [...found.keys()].filter((name) => !names.includes(name) && !VIEWS.test(name));
  return signContent(metadata, {
    tags: known.tags,
    notCompared: [
      ...known.notCompared,
      ...others.map((name): NotCompared => ({ name, why: "system_collection" })),
    ],
    settings: null,
    objects: {
      ...exactObjectsMetadata(objectsOf(exact), key),
      ...(leftOut.length === 0 ? {} : { left_out: leftOut.map((kind) => [kind, null] as const) }),
    },
  });
}

/** Views are compared as objects. */
const VIEWS = /\.system\.views$/;

export function documentsTag(
  key: Buffer,
  { database, collection, documents, sum }: CollectionContent,
): string {
  return contentTag(key, [database, collection, String(documents), sum]);
}

/** The name in metadata and checks: `shop.orders`. */
export function nameOf({ database, collection }: CollectionContent): string {
  return `${database}.${collection}`;
}

/** Collections with their options, views, and indexes. */
export function objectsOf(lines: readonly SchemaLine[]): DatabaseObject[] {
  return lines.map(({ kind, relation, name, definition }) => ({
    kind,
    name: name === "" ? relation : `${relation} ${name}`,
    definition,
  }));
}
