import { contentTag } from "../../content/content-tag.ts";
import { signContent } from "../../content/signed-content.ts";
import { objectsMetadata } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import type { SqliteContent, TableRows } from "./row-digests.ts";

/**
 * The metadata of a copy with what its source held. Tables that the metadata has no room to name
 * have one digest: if one of them is not known, none is.
 */
export function signRows(
  metadata: SourceMetadata,
  { tables, notRead, objects }: SqliteContent,
  key: Buffer,
): SourceMetadata {
  const named = new Set((metadata["tables"] as readonly { readonly name: string }[]).map(({ name }) => name));
  const isRestKnown = notRead.every(({ name }) => named.has(name));
  const signed = tables.filter(({ name }) => isRestKnown || named.has(name));
  const left = tables.filter((table) => !signed.includes(table));
  return signContent(metadata, {
    tags: new Map(signed.map((table) => [table.name, rowsTag(key, table)])),
    notCompared: [
      ...notRead.map(({ name, why }) => ({ name, why })),
      ...left.map(({ name }) => ({ name, why: "unnamed" })),
    ],
    settings: null,
    objects: objectsMetadata(objects, key),
  });
}

export function rowsTag(key: Buffer, { name, columns, sha256 }: TableRows): string {
  return contentTag(key, [name, columns, sha256]);
}
