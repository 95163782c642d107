import { RunError } from "../../../errors/run-error.ts";

/** These begin as the server's error does. Further on, a message may quote the dump. */
const NO_ROLE = /^role "[^"\n]*" does not exist$/;
const PRELOADED =
  /^(?:[Ee]xtension "?)?([A-Za-z0-9_-]{1,63})"? (?:must|can|is|has|needs|requires|should)(?: [a-z]+){0,8}? "?(?:preloaded|shared_preload_libraries)\b/;

/**
 * The error for a dump that needs what only its own server has, from the server's first message;
 * null if it is none of these. The message may quote a row.
 */
export function missingOnServer(sqlstate: string, message: string): RunError | null {
  // Code in the dump may raise an error with any text.
  if (sqlstate === "P0001") return null;
  if ((sqlstate === "42704" || sqlstate === "22023") && isOfMissingRole(message))
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
  const library = unloadedLibrary(message);
  if (library === null) return null;
  return new RunError(
    "sandbox_lacks",
    `the dump needs ${library}, which works only if its server preloads it (shared_preload_libraries, SQLSTATE ${sqlstate}), ` +
      "and the scratch server does not: test in a server that does (sandbox.database)",
  );
}

export function isOfMissingRole(message: string): boolean {
  return NO_ROLE.test(message);
}

/** A library that works only if its server preloads it; null if the error is another. */
export function unloadedLibrary(message: string): string | null {
  return PRELOADED.exec(message)?.[1] ?? null;
}

export function missingExtension(message: string): string | null {
  return /^extension "([A-Za-z0-9_-]{1,63})" is not available$/.exec(message)?.[1] ?? null;
}

export function isOfMissingLocale(message: string): boolean {
  return /^could not (?:create locale|open collator for locale) "/.test(message);
}
