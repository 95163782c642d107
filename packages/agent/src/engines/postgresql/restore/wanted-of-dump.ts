import { expectedObjects } from "../../content/compare-objects.ts";
import type { ForeignMetadata } from "../../engine.ts";

/**
 * The parts of the dump's SQL that a restore test reads, because the backup says something about
 * them.
 */
export interface Wanted {
  readonly privileges: boolean;
  readonly unrestored: boolean;
}

export const NOTHING_WANTED: Wanted = { privileges: false, unrestored: false };

export function wantedOf(metadata: ForeignMetadata): Wanted {
  return {
    privileges: expectedObjects(metadata, "privileges") !== null,
    unrestored: expectedObjects(metadata, "unrestored") !== null,
  };
}
