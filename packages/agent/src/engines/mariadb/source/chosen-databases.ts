import type { MariadbSettings } from "../../../config/engines/mariadb.ts";
import { RunError } from "../../../errors/run-error.ts";
import type { SourceOf } from "../../engine.ts";
import type { ConnectionFile } from "../connection/connection.ts";
import { isOfUsers } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/**
 * Which databases are backed up: the connection's own comes first.
 * @throws RunError
 */
export async function chosenDatabases(
  { databases, slug }: SourceOf<MariadbSettings>,
  connection: ConnectionFile,
  session: MariadbSession,
): Promise<readonly string[]> {
  const there = rowsOf(
    await session.run("select schema_name from information_schema.schemata order by schema_name"),
    "listing the databases",
  ).flatMap(([name = ""]) => (isOfUsers(name) ? [name] : []));
  const wanted =
    databases === "all" ? there : (databases ?? (connection.database === null ? [] : [connection.database]));
  if (wanted.length === 0) {
    throw new RunError(
      "connection_reference",
      `which database of ${slug}? Name it in the connection's URL, or give databases: [NAME, …] or databases: all`,
    );
  }
  const missing = wanted.filter((name) => !there.includes(name));
  // The connection's own database comes first, because queries of checks run in it.
  const place = (name: string): number => (name === connection.database ? 0 : 1);
  if (missing.length === 0) return wanted.toSorted((a, b) => place(a) - place(b));
  throw new RunError(
    "source_missing",
    `the server has no database ${missing.join(", ").slice(0, 200)}, or the user has no access to it`,
  );
}
