import { expectedObjects } from "../content/compare-objects.ts";
import type { ForeignMetadata } from "../engine.ts";

/** What a restore test reads in the dump's SQL, because the backup says something about it. */
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
