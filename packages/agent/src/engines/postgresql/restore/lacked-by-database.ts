import { RunError } from "../../../errors/run-error.ts";
import { lackedRight } from "../database/loading-role.ts";
import {
  isOfMissingLocale,
  isOfMissingRole,
  missingExtension,
  unloadedLibrary,
} from "./missing-on-server.ts";

/** Of a longer stderr we may not have the end. */
const MAX_WHOLE = 16_000;
/** Other lines, and names in this one, are the dump's. */
const ERROR =
  /^pg_restore: error: (?:could not execute query|COPY failed for table "[^"\n]*"): ERROR: +((?:(?!ERROR: )[^\n])*)$/m;
const CONTEXT = /^CONTEXT: +(.*)$/gm;
const OF_A_RIGHT =
  /^(?:permission denied |must be superuser |only superuser |aggregate transition data type cannot be internal$)/;

/**
 * The error for what a database of the customer lacks, from pg_restore's stderr; null if the server
 * did not say that itself. We can't see its log. But where code raises an error, the server adds a
 * CONTEXT that says which code, and the code can't leave it out.
 */
export function lackedByDatabase(stderr: string): RunError | null {
  const message = ERROR.exec(stderr)?.[1];
  const isOne = stderr.split("pg_restore: error: ").length === 2;
  if (message === undefined || !isOne || stderr.length > MAX_WHOLE) return null;
  // The server itself says which row of COPY it could not take.
  if ([...stderr.matchAll(CONTEXT)].some(([, context = ""]) => !context.startsWith("COPY "))) return null;
  const lacks = whatItLacks(message);
  return lacks === null
    ? null
    : new RunError("sandbox_lacks", `sandbox.database cannot take the dump: ${lacks}`);
}

function whatItLacks(message: string): string | null {
  const extension = missingExtension(message);
  if (extension !== null) return `its server does not have the extension ${extension}: install it`;
  if (isOfMissingLocale(message))
    return "its server does not have the locale of a collation: install the locale";
  if (isOfMissingRole(message))
    return "a value in the dump is the name of a role (type regrole) that its server does not have: create the role there";
  const library = unloadedLibrary(message);
  if (library !== null)
    return `it needs ${library}, which works only if its server preloads it (shared_preload_libraries)`;
  const right = OF_A_RIGHT.test(message) ? lackedRight(message) : undefined;
  return right === undefined ? null : `it needs ${right}, and its role may not do that: use one that may`;
}
