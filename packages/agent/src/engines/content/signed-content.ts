import type { SourceMetadata } from "../engine.ts";
import type { AbsentObjects } from "./absent-objects.ts";
import { contentDigest } from "./content-digest.ts";
import type { NotCompared } from "./not-compared.ts";
import type { ExactObjectsMetadata, ObjectsMetadata } from "./tagged-objects.ts";

/** Signed in a backup's metadata. `Settings` decide how the engine prints values. */
export interface ContentMetadata<Settings = unknown> {
  /** Tables with a digest. */
  readonly tables: number;
  /**
   * From `contentDigest`, over the named tables, and `REST` with the digest of the others; null if
   * there are none.
   */
  readonly sha256: string | null;
  /** Those that `tables` of the metadata does not name. */
  readonly rest: { readonly tables: number; readonly sha256: string } | null;
  readonly settings: Settings | null;
  readonly not_compared: { readonly count: number; readonly named: readonly NotCompared[] };
  /** Everything besides rows; absent if it could not be listed, or changed during the dump. */
  readonly objects?: ObjectsMetadata | ExactObjectsMetadata;
  /** Owners and grants, of PostgreSQL; absent for the same reasons. */
  readonly privileges?: ExactObjectsMetadata;
  /**
   * Objects that a restore test of PostgreSQL does not create. Absent for the same reasons; then
   * `objects` has the event triggers.
   */
  readonly unrestored?: ExactObjectsMetadata;
  /** Of PostgreSQL: why each of the last two is absent. Absent itself if neither is. */
  readonly absent?: AbsentObjects;
}

/** Stands for all tables without a name in the metadata, in the digest over everything. */
export const REST = "";
/** A receipt has room for this many names of data that is not compared. */
export const MAX_NOT_COMPARED = 40;
const MAX_NAME = 300;

/** What is known about a dump's content. */
export interface KnownContent<Settings> {
  /** By table. */
  readonly tags: ReadonlyMap<string, string>;
  /**
   * Content that does not fit into `tables` of the metadata: fields of `content` with their tags.
   */
  readonly apart?: Readonly<Record<string, string>>;
  readonly notCompared: readonly NotCompared[];
  readonly settings: Settings | null;
  readonly objects: ObjectsMetadata | ExactObjectsMetadata | null;
  readonly privileges?: ExactObjectsMetadata | null;
  readonly unrestored?: ExactObjectsMetadata | null;
  readonly absent?: AbsentObjects;
}

/** Adds what is known about the content to the metadata. */
export function signContent<Settings>(
  metadata: SourceMetadata,
  {
    tags,
    apart = {},
    notCompared,
    settings,
    objects,
    privileges = null,
    unrestored = null,
    absent = {},
  }: KnownContent<Settings>,
): SourceMetadata {
  const named = (metadata["tables"] as readonly { readonly name: string }[]).map((table) => {
    const tag = tags.get(table.name);
    return tag === undefined ? table : { ...table, content: tag };
  });
  const tagsApart = Object.entries(apart).flatMap(([field, name]) => {
    const tag = tags.get(name);
    return tag === undefined ? [] : [[field, tag] as const];
  });
  const names = new Set([...Object.values(apart), ...named.map(({ name }) => name)]);
  const listed = [...tags].filter(([name]) => names.has(name));
  const unlisted = [...tags].filter(([name]) => !names.has(name));
  const rest = unlisted.length === 0 ? null : { tables: unlisted.length, sha256: contentDigest(unlisted) };
  const content: ContentMetadata<Settings> = {
    tables: tags.size,
    sha256: tags.size === 0 ? null : contentDigest(rest === null ? listed : [...listed, [REST, rest.sha256]]),
    rest,
    ...Object.fromEntries(tagsApart),
    settings,
    not_compared: {
      count: notCompared.length,
      named: notCompared
        .slice(0, MAX_NOT_COMPARED)
        .map(({ name, why }) => ({ name: name.slice(0, MAX_NAME), why })),
    },
    ...(objects === null ? {} : { objects }),
    ...(privileges === null ? {} : { privileges }),
    ...(unrestored === null ? {} : { unrestored }),
    ...(Object.keys(absent).length === 0 ? {} : { absent }),
  };
  return { ...metadata, tables: named, content };
}
