import { contentTag } from "../../content/content-tag.ts";
import { withKnownRest } from "../../content/known-rest.ts";
import { signContent } from "../../content/signed-content.ts";
import { exactObjectsMetadata } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import { OBJECTS_VERSION } from "./objects.ts";
import type { SqliteContent, TableRows } from "./row-digests.ts";

/** Adds to the metadata of a copy what its source held. */
export function signRows(
  metadata: SourceMetadata,
  { tables, notRead, objects }: SqliteContent,
  key: Buffer,
): SourceMetadata {
  const tags = new Map(tables.map((table) => [table.name, rowsTag(key, table)]));
  const notKnown = notRead.map(({ name, why }) => ({ name, why }));
  return signContent(metadata, {
    ...withKnownRest(metadata, tags, notKnown),
    settings: null,
    objects: { ...exactObjectsMetadata(objects, key), v: OBJECTS_VERSION },
  });
}

export function rowsTag(key: Buffer, { name, columns, sha256 }: TableRows): string {
  return contentTag(key, [name, columns, sha256]);
}
