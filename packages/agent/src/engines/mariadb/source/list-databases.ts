import type { ConnectionReference } from "../../../config/source-fields.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { serverVersion } from "../connection/server-version.ts";
import { productOf } from "../connection/programs.ts";
import { isOfUsers } from "../schema.ts";
import { rowsOf } from "../connection/session-error.ts";
import { inSourceSession } from "../connection/source-session.ts";

const MOST = 500;

/**
 * The databases of a server, and which product it is. `slug` is for messages.
 * @throws RunError
 */
export function listMariadbDatabases(
  server: { readonly connection: ConnectionReference; readonly slug: string },
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<{ readonly engine: "mariadb" | "mysql"; readonly databases: readonly string[] }> {
  return inSourceSession(server, context, async (session) => {
    const version = await serverVersion(session);
    const listed = await session.run(
      `select schema_name from information_schema.schemata order by schema_name limit ${MOST}`,
    );
    return {
      engine: productOf(version) === "MariaDB" ? "mariadb" : "mysql",
      databases: rowsOf(listed, "listing the databases").flatMap(([name = ""]) =>
        isOfUsers(name) ? [name] : [],
      ),
    };
  });
}
