import type { ConnectionReference } from "../../../config/source-fields.ts";
import { rowsOf } from "../schema.ts";
import { outputOf } from "../connection/session-error.ts";
import { inReadingSession } from "../connection/source-session.ts";

const MOST = 500;
/**
 * Databases that can be backed up. As for pg_dumpall, those that somebody made a template of are
 * among them, and one whose removal was broken off (-2) is not.
 */
export const CAN_BE_DUMPED =
  "datallowconn and datconnlimit <> -2 and datname not in ('template0', 'template1')";

/** Those that the user may connect to. */
const DATABASES = `
  select json_build_array(datname) from pg_database
  where ${CAN_BE_DUMPED} and has_database_privilege(oid, 'connect')
  order by datname limit ${MOST}`;

/**
 * The databases of a server. `called` is for messages.
 * @throws RunError
 */
export function listPostgresqlDatabases(
  server: { readonly connection: ConnectionReference; readonly called: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  return inReadingSession(server, signal, async (session) => {
    await session.run("set statement_timeout = 10000");
    return rowsOf(outputOf(await session.run(DATABASES), "listing the databases")).map(([name = ""]) => name);
  });
}
