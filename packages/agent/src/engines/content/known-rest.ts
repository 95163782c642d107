import type { SourceMetadata } from "../engine.ts";
import type { NotCompared } from "./not-compared.ts";

/**
 * All tables that do not fit into the metadata have one digest. So if one of them is unknown, all
 * of them are.
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
    notCompared: [...notKnown, ...left.map((name): NotCompared => ({ name, why: "unnamed" }))],
  };
}
