import type { ConnectionReference } from "../../config/source-fields.ts";
import { rowsOf } from "./schema.ts";
import { outputOf } from "./session-error.ts";
import { inReadingSession } from "./source-session.ts";

const MOST = 500;
/** Those that the user may connect to. */
const DATABASES = `
  select json_build_array(datname) from pg_database
  where datallowconn and not datistemplate and has_database_privilege(oid, 'connect')
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
