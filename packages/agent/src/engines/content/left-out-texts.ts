import type { ForeignMetadata } from "../engine.ts";
import { expectedObjects } from "./compare-objects.ts";

/** The texts of the kinds that a backup's list of objects leaves out, if they have one. */
export function leftOutTexts(
  metadata: ForeignMetadata,
  textOf: (kind: string) => string | null,
): readonly string[] {
  return (expectedObjects(metadata)?.leftOut ?? []).flatMap(([kind, name]) => {
    const text = name === null ? textOf(kind) : null;
    return text === null ? [] : [text];
  });
}
