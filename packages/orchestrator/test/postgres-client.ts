import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The directory of pg_dump, pg_restore and psql for the embedded PostgreSQL. */
export function postgresClient(): string {
  const install = fileURLToPath(new URL("../../../tools/install-postgresql-client", import.meta.url));
  return execFileSync(install, { encoding: "utf8" }).trim();
}
