import { type ExpectedObjects, expectedObjects } from "../../content/compare-objects.ts";
import type { ForeignMetadata } from "../../engine.ts";

/**
 * Which list of objects is signed. Version 5 has libraries, and every byte. Testers that know
 * version 1 alone know versions 2 to 4 of other engines too, and would compare these as if they
 * were the first.
 */
export const OBJECTS_VERSION = 5;
export const OBJECTS_VERSIONS = [1, OBJECTS_VERSION] as const;

/** Null without a list that this agent knows. */
export function expectedOfMariadb(metadata: ForeignMetadata): ExpectedObjects | null {
  return expectedObjects(metadata, "objects", OBJECTS_VERSIONS);
}
