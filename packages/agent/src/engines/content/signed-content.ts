import type { SourceMetadata } from "../engine.ts";
import { contentDigest } from "./content-digest.ts";
import type { ObjectsMetadata } from "./tagged-objects.ts";

/** Data of a source that no digest covers. */
export interface NotCompared {
  readonly name: string;
  readonly why: string;
}

/** Signed in a backup's metadata. `Settings` decide how the engine prints values. */
export interface ContentMetadata<Settings = unknown> {
  /** Tables with a digest. */
  readonly tables: number;
  /**
   * Of `contentDigest`, over those that are named, and `REST` with the digest of the others; null
   * where there are none.
   */
  readonly sha256: string | null;
  /** Those of them that `tables` of the metadata does not name. */
  readonly rest: { readonly tables: number; readonly sha256: string } | null;
  readonly settings: Settings | null;
  readonly not_compared: { readonly count: number; readonly named: readonly NotCompared[] };
  /** Everything besides rows; absent where it could not be listed or changed during the dump. */
  readonly objects?: ObjectsMetadata;
}

/** In the digest over everything, the name of all tables that have no name in the metadata. */
export const REST = "";
/** Names of what is not compared that a receipt has room for. */
export const MAX_NOT_COMPARED = 40;
const MAX_NAME = 300;

/** What is known of a dump's content. */
export interface KnownContent<Settings> {
  /** By table. */
  readonly tags: ReadonlyMap<string, string>;
  /** Tables that `tables` of the metadata has no place for: fields of `content` with their tags. */
  readonly apart?: Readonly<Record<string, string>>;
  readonly notCompared: readonly NotCompared[];
  readonly settings: Settings | null;
  readonly objects: ObjectsMetadata | null;
}

/** The metadata with what is known of the content. */
export function signContent<Settings>(
  metadata: SourceMetadata,
  { tags, apart = {}, notCompared, settings, objects }: KnownContent<Settings>,
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
  };
  return { ...metadata, tables: named, content };
}
