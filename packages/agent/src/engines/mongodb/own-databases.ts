/** The server's own databases. A test never restores them. */
export const OWN_DATABASES: readonly string[] = ["admin", "config", "local"];
/** Databases of the server's own that mongodump leaves out too, from 100.14 on. */
const INTERNAL = "__mdb_internal";

export function isOwnDatabase(name: string): boolean {
  return OWN_DATABASES.includes(name) || name.startsWith(INTERNAL);
}
