import { RunError } from "../../../errors/run-error.ts";

const NO_ROLE = /role "[^"\n]*" does not exist/;
const PRELOADED =
  /^(?:extension "?)?([A-Za-z0-9_-]{1,63})"?[^\n]{0,60}(?:shared_preload_libraries|must be preloaded)/;

/**
 * The error for a dump that needs what only its own server has, from the server's first message;
 * null if it is none of these. The message may quote a row.
 */
export function missingOnServer(sqlstate: string, message: string): RunError | null {
  // Code in the dump may raise an error with any text.
  if (sqlstate === "P0001") return null;
  if ((sqlstate === "42704" || sqlstate === "22023") && NO_ROLE.test(message))
    return new RunError(
      "sandbox_lacks",
      `a value in the dump is the name of a role (type regrole) that the scratch server does not have (SQLSTATE ${sqlstate}). ` +
        "Back the database up with the engine postgresql, which notes these roles, or test in a server that has them (sandbox.database)",
    );
  if (sqlstate === "22023" && message.startsWith('unrecognized parameter "pg_attver"'))
    return new RunError(
      "sandbox_lacks",
      "the dump has attribute versions (pg_attver), which PostgreSQL keeps since its releases of November 2026, and the scratch server is older. " +
        "Update it, or back up with the pg_dump of the source's own release, which leaves them out",
    );
  const library = PRELOADED.exec(message)?.[1];
  if (library === undefined) return null;
  return new RunError(
    "sandbox_lacks",
    `the dump needs ${library}, which works only if its server preloads it (shared_preload_libraries, SQLSTATE ${sqlstate}), ` +
      "and the scratch server does not: test in a server that does (sandbox.database)",
  );
}
