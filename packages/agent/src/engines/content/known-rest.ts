import type { SourceMetadata } from "../engine.ts";
import type { NotCompared } from "./signed-content.ts";

/**
 * Tables that the metadata has no room to name have one digest for all of them: if one of them is
 * not known, none is.
 */
export function withKnownRest(
  metadata: SourceMetadata,
  tags: ReadonlyMap<string, string>,
  notKnown: readonly NotCompared[],
): { readonly tags: ReadonlyMap<string, string>; readonly notCompared: readonly NotCompared[] } {
  const named = new Set((metadata["tables"] as readonly { readonly name: string }[]).map(({ name }) => name));
  if (notKnown.every(({ name }) => named.has(name))) return { tags, notCompared: notKnown };
  const left = [...tags.keys()].filter((name) => !named.has(name));
  return {
    tags: new Map([...tags].filter(([name]) => named.has(name))),
    notCompared: [...notKnown, ...left.map((name) => ({ name, why: "unnamed" }))],
  };
}
