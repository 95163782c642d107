import type { ForeignMetadata } from "../../engine.ts";
import { MAX_DATABASES } from "./names.ts";

export interface DatabaseOfSet {
  readonly name: string;
  /** The database's encoding, extensions and roles. */
  readonly metadata: ForeignMetadata;
}

/**
 * The databases in a backup's metadata, in the archive's order. We received the metadata, so
 * anything that is not a database is left out.
 */
export function databasesOfMetadata(metadata: ForeignMetadata): DatabaseOfSet[] {
  const databases = metadata["databases"];
  if (!Array.isArray(databases)) return [];
  // If a receipt has no room for those of each database, there is one list for all.
  const shared = { extensions: metadata["extensions"], named_roles: metadata["named_roles"] };
  return databases.slice(0, MAX_DATABASES).flatMap((database: unknown) => {
    if (typeof database !== "object" || database === null || !("name" in database)) return [];
    const { name } = database;
    if (typeof name !== "string" || name === "" || name.length > 63) return [];
    return [{ name, metadata: { ...shared, ...database } }];
  });
}

/** The roles that the backup's globals name. */
export function rolesOfMetadata(metadata: ForeignMetadata): readonly unknown[] {
  const globals = metadata["globals"];
  if (typeof globals !== "object" || globals === null || !("roles" in globals)) return [];
  return Array.isArray(globals.roles) ? globals.roles : [];
}
