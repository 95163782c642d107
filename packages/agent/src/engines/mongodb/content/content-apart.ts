import { contentTag } from "../../content/content-tag.ts";
import { type Look, nameOf, type Namespace, STORED_FUNCTIONS } from "../describe.ts";
import { isOwnDatabase } from "../own-databases.ts";
import type { CollectionContent } from "./archive-digests.ts";

/**
 * What a dump's documents hold besides the content of its collections. Each has a field of its own
 * in the metadata, and is named as a table is.
 */
export const APART = {
  /** The order of the documents in each capped collection, which is the order they came in. */
  capped_order: "order of capped collections",
  /** The functions that databases store. */
  stored_functions: "stored functions (system.js)",
} as const;

type Namespaces = Pick<Look, "namespaces">;

/** By the names in `APART`. What the dump has nothing of has no tag. */
export function tagsApart(
  look: Namespaces,
  collections: readonly CollectionContent[],
  key: Buffer,
): Map<string, string> {
  const capped = collections
    .filter(isCappedIn(look))
    .map(({ database, collection, inOrder }) => [database, collection, inOrder]);
  const functions = collections
    .filter(isStoredFunctions)
    .map(({ database, documents, sum }) => [database, String(documents), sum]);
  const tags = new Map<string, string>();
  if (capped.length > 0) tags.set(APART.capped_order, tagOf(key, "capped_order", capped));
  if (functions.length > 0) tags.set(APART.stored_functions, tagOf(key, "stored_functions", functions));
  return tags;
}

export function isStoredFunctions({ database, collection }: CollectionContent): boolean {
  return collection === STORED_FUNCTIONS && !isOwnDatabase(database);
}

/**
 * Capped collections of which the dump has more than they take: somebody wrote to them meanwhile,
 * and mongodump also read what the server then removed. A server that restores it removes the
 * oldest again.
 */
export function overflowing(
  { namespaces }: Namespaces,
  collections: readonly CollectionContent[],
): Namespace[] {
  const found = new Map(collections.map((each) => [nameOf(of(each)), each]));
  return namespaces.filter((each) => {
    const content = found.get(nameOf(each));
    if (each.capped === undefined || content === undefined) return false;
    const { bytes, documents } = each.capped;
    return content.bytes > bytes || (documents !== null && content.documents > documents);
  });
}

function isCappedIn({ namespaces }: Namespaces): (content: CollectionContent) => boolean {
  const capped = new Set(namespaces.filter((each) => each.capped !== undefined).map(nameOf));
  return (content) => capped.has(nameOf(of(content)));
}

function of({ database, collection }: CollectionContent): Namespace {
  return { database, collection, isView: false };
}

function tagOf(key: Buffer, what: keyof typeof APART, of: readonly (readonly string[])[]): string {
  return contentTag(key, [what, ...of.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))]);
}
