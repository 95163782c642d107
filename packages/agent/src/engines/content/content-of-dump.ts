import { contentDigest } from "./content-digest.ts";
import type { ExpectedContent } from "./expected-content.ts";
import type { NotCompared } from "./not-compared.ts";

/**
 * What the restored copy of another program's dump must contain, by what was read of the dump while
 * it was restored. Null if nothing was read.
 */
export function contentOfDump(
  /** By table, with its name in the restored copy. */
  tags: ReadonlyMap<string, string>,
  notCompared: readonly NotCompared[],
): ExpectedContent | null {
  if (tags.size === 0) return null;
  return {
    tags,
    named: new Set([...tags.keys(), ...notCompared.map(({ name }) => name)]),
    sha256: contentDigest([...tags]),
    rest: null,
    notCompared: {
      count: notCompared.length,
      names: notCompared.map(({ name, why }) => `${name} (${why})`),
    },
  };
}
