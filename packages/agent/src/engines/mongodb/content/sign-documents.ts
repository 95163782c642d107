import { contentTag } from "../../content/content-tag.ts";
import { withKnownRest } from "../../content/known-rest.ts";
import type { NotCompared } from "../../content/not-compared.ts";
import { signContent } from "../../content/signed-content.ts";
import { type DatabaseObject, exactObjectsMetadata } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import type { SchemaLine } from "../../schema.ts";
import { OBJECTS_VERSION } from "../exact-objects.ts";
import { type Look, nameOf as nameOfNamespace } from "../describe.ts";
import type { CollectionContent } from "./archive-digests.ts";
import { APART, isStoredFunctions, overflowing, tagsApart } from "./content-apart.ts";

/** What a dump contains. */
export interface DumpedDocuments {
  /** Null if its archive was not understood. */
  readonly collections: readonly CollectionContent[] | null;
  /** As mongodump itself counted them, by name. */
  readonly written: ReadonlyMap<string, bigint>;
  /** What the server listed. */
  readonly look: Look;
  /** Kinds of which the source has some, or may have some, that no dump has. */
  readonly leftOut: readonly string[];
}

/**
 * Adds to the metadata of a dump what its collections hold. `names` are those that a test restores.
 */
export function signDocuments(
  metadata: SourceMetadata,
  { collections, written, look, leftOut }: DumpedDocuments,
  { names, key }: { readonly names: readonly string[]; readonly key: Buffer },
): SourceMetadata {
  const found = new Map(collections?.map((each) => [nameOf(each), each]));
  const tags = new Map<string, string>();
  const notKnown: NotCompared[] = [];
  const tooMany = new Set(overflowing(look, collections ?? []).map(nameOfNamespace));
  for (const name of names) {
    const content = found.get(name);
    if (content !== undefined && content.documents === written.get(name) && !tooMany.has(name))
      tags.set(name, documentsTag(key, content));
    else
      notKnown.push({
        name,
        why: collections === null ? "dump_not_read" : tooMany.has(name) ? "capped_overflow" : "not_in_dump",
      });
  }
  const known = withKnownRest(metadata, tags, notKnown);
  const apart = tagsApart(look, collections ?? [], key);
  if (tooMany.size > 0) apart.delete(APART.capped_order);
  const orderUnknown =
    !apart.has(APART.capped_order) && look.namespaces.some(({ capped }) => capped !== undefined);
  const others = [...found.values()].filter(
    (each) => !names.includes(nameOf(each)) && !VIEWS.test(nameOf(each)) && !isStoredFunctions(each),
  );
  return signContent(metadata, {
    tags: new Map([...known.tags, ...apart]),
    apart: APART,
    notCompared: [
      ...[...apart.keys()].map((name): NotCompared => ({ name, why: "apart" })),
      ...known.notCompared,
      ...(orderUnknown
        ? [
            {
              name: APART.capped_order,
              why: collections === null ? "dump_not_read" : "capped_overflow",
            } as const,
          ]
        : []),
      ...others.map((each): NotCompared => ({ name: nameOf(each), why: "system_collection" })),
    ],
    settings: null,
    objects: {
      ...exactObjectsMetadata(look.objects, key, OBJECTS_VERSION),
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

/** Objects of versions 1 and 2: collections with their options, views, and indexes. */
export function objectsOf(lines: readonly SchemaLine[]): DatabaseObject[] {
  return lines.map(({ kind, relation, name, definition }) => ({
    kind,
    name: name === "" ? relation : `${relation} ${name}`,
    definition,
  }));
}
