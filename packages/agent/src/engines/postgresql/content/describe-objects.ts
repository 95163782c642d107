import { createHash, createHmac } from "node:crypto";
import type { PsqlSession } from "../psql-session.ts";
import type { SequenceValue } from "./copy-digests.ts";
import { contentDigest } from "./content-digest.ts";
import { type DatabaseObject, databaseObjects, SEQUENCE_VALUE, SOURCE_OBJECTS } from "./objects.ts";

/** Signed in a backup's metadata. */
export interface ObjectsMetadata {
  readonly count: number;
  /** Over the kinds, each with its digest. */
  readonly sha256: string;
  /** Of each kind: how many, and a digest over their names and tags. Empty where a receipt has no room. */
  readonly kinds: Readonly<Record<string, { readonly count: number; readonly sha256: string }>>;
  /** Kind, name and the first half of the tag of as many as there is room for. */
  readonly named: readonly (readonly [kind: string, name: string, tag: string])[];
}

/** The objects of one kind, by name, each with its tag. */
export type TaggedKinds = ReadonlyMap<string, readonly (readonly [name: string, tag: string])[]>;

/** A receipt has room for so many names of objects, and for so many bytes of them. */
export const MAX_NAMED = 200;
const MAX_NAMED_BYTES = 12 * 1024;
const MAX_NAME = 200;
const LISTING_MS = 60_000;
/** A view that is being changed is locked; pg_dump can wait for it, and this need not. */
const LOCKED_MS = 2_000;

/**
 * The objects of the open transaction's database; null if the server does not list them, or not in
 * time. The transaction goes on in both cases.
 */
export async function listObjects(session: PsqlSession): Promise<readonly DatabaseObject[] | null> {
  await session.run("savepoint objects");
  await session.run(`set local statement_timeout = ${LISTING_MS}; set local lock_timeout = ${LOCKED_MS}`);
  const listed = await session.run(SOURCE_OBJECTS);
  await session.run("rollback to savepoint objects");
  return listed.ok ? databaseObjects(listed.output) : null;
}

/**
 * What was listed before and after the dump; null unless both are the same: what somebody changes
 * meanwhile, the dump may have either way. Sequences have the dump's values.
 */
export function describeObjects(
  before: readonly DatabaseObject[] | null,
  after: readonly DatabaseObject[] | null,
  sequences: readonly SequenceValue[] | null,
  key: Buffer,
): ObjectsMetadata | null {
  if (before === null || after === null || sequences === null) return null;
  if (listing(before) !== listing(after)) return null;
  const values = new Map<string, string>(
    sequences.map(({ schema, sequence, value }) => [`${schema}.${sequence}`, value ?? ""]),
  );
  const inDump = before.flatMap((object) => {
    if (object.kind !== SEQUENCE_VALUE) return [object];
    const value = values.get(object.name);
    return value === undefined ? [] : [{ ...object, definition: valueDefinition(value) }];
  });
  return metadataOf(taggedKinds(inDump, key));
}

/** Of one object: HMAC-SHA-256 over the JSON array of kind, name and definition, its first half in hex. */
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

function metadataOf(kinds: TaggedKinds): ObjectsMetadata {
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

/** As `objects.ts` has it of a restored copy. */
function valueDefinition(value: string): string {
  return `${createHash("sha256").update(value).digest("hex")} `;
}

function listing(objects: readonly DatabaseObject[]): string {
  return objects
    .map(({ kind, name, definition }) => JSON.stringify([kind, name, definition]))
    .toSorted()
    .join("\n");
}
