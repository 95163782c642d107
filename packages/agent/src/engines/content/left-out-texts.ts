import type { ForeignMetadata } from "../engine.ts";
import { type ExpectedObjects, expectedObjects } from "./compare-objects.ts";

/** The texts of the kinds that a backup's list of objects leaves out, if they have one. */
export function leftOutTexts(
  metadata: ForeignMetadata,
  textOf: (kind: string) => string | null,
  /** Those that this agent knows, if the engine has others than most. */
  versions?: readonly ExpectedObjects["version"][],
): readonly string[] {
  return (expectedObjects(metadata, "objects", versions)?.leftOut ?? []).flatMap(([kind, name]) => {
    const text = name === null ? textOf(kind) : null;
    return text === null ? [] : [text];
  });
}
