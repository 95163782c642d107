import { endedWith, type Exit } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";
import { diskFullDuringRestore, whyItDied } from "../../disk-full.ts";
import { RestoreRefused } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { isBeyondLoader, needsSuperuser } from "../database/loading-role.ts";
import { lackedByDatabase } from "./lacked-by-database.ts";
import { isOfMissingLocale, missingExtension, missingOnServer } from "./missing-on-server.ts";

const ARCHIVE_ERROR =
  /pg_restore: error: ((?:could not (?:read|open|find|seek)|unexpected|did not find|input file|corrupt|unsupported|unrecognized|invalid|expected|entry ID|archive)[^\n]*)/;

/** The connection broke. Reads nothing after the server's ERROR, whose message may quote a row. */
const BROKEN_OFF =
  /^pg_restore: error: (?:(?!ERROR: )[^\n])*(?:connection to server |FATAL: |server closed the connection)|^server closed the connection unexpectedly$/m;

/**
 * A worker was killed: no error comes before this. A worker that ends with an error prints that
 * first, and two at once print into each other's line.
 */
const WORKER_KILLED = /^pg_restore: error: a worker process died unexpectedly$/m;
const ANY_ERROR = /^pg_restore: ?(?:pg_restore|error):/m;

/**
 * Decides who is to blame for a failed pg_restore: the scratch server, so nothing is known about
 * the backup, or the dump.
 * pg_restore's messages quote rows. So only two things are passed on: the SQLSTATE from the
 * server's log, and the names of the dump's entry.
 */
export function refusalOf(
  exit: Exit,
  server: ScratchServer,
  sqlstate: string | undefined,
): RunError | RestoreRefused {
  if (server.hasRunFull() || /No space left on device/.test(exit.stderr)) {
    return diskFullDuringRestore(server);
  }
  if (server.hasDied())
    return new RunError(
      "sandbox_failed",
      `the scratch PostgreSQL died during the restore${whyItDied(server)}`,
    );
  if (server.wasKilled?.() === true) return outOfMemory();
  if (exit.signal !== null) return new RunError("sandbox_failed", `pg_restore ended with ${endedWith(exit)}`);
  const missed = exit.stderr.search(WORKER_KILLED);
  if (missed !== -1 && !ANY_ERROR.test(exit.stderr.slice(0, missed)))
    return new RunError(
      "sandbox_failed",
      "a process of pg_restore was killed during the restore, most likely because memory ran out: give it more",
    );

  // pg_restore's messages about the archive are its own and quote nothing. It then stops sending,
  // and the server has an SQLSTATE for that too.
  const ofArchive = ARCHIVE_ERROR.exec(exit.stderr)?.[1];
  const entry = entryOf(exit.stderr);
  const where = entry === null ? "" : ` at ${entry}`;
  // We know whether a server of our own still runs.
  if (server.runtime.kind === "uri" && BROKEN_OFF.test(exit.stderr))
    return new RunError(
      "sandbox_failed",
      "the server of sandbox.database closed or refused the connection during the restore: its log says why",
    );
  // Only the customer's people can read the log of their throw-away database.
  if (ofArchive === undefined && server.runtime.kind === "uri")
    return (
      lackedByDatabase(exit.stderr) ??
      new RestoreRefused(`pg_restore failed${where}; the log of sandbox.database says why`)
    );
  if (ofArchive !== undefined || sqlstate === undefined) {
    return new RestoreRefused(
      `pg_restore cannot read the dump: ${(ofArchive ?? endedWith(exit)).slice(0, 200)}`,
    );
  }
  const lacks = missingOnServer(sqlstate, messageIn(exit.stderr));
  if (lacks !== null) return lacks;
  const message = messageIn(exit.stderr);
  const lacked = whatHostLacks(sqlstate, message);
  if (
    lacked !== null ||
    isLacking(sqlstate) ||
    (sqlstate !== "P0001" && /^(?:EXTENSION|COLLATION) /.test(entry ?? ""))
  ) {
    return lacksFeature(sqlstate, where === "" ? (lacked ?? "") : where);
  }
  if (isBeyondLoader(sqlstate, message) && server.runtime.kind !== "uri")
    return needsSuperuser(sqlstate, message, where);
  const why = whichConstraint(sqlstate, message);
  return new RestoreRefused(`pg_restore failed${where} (SQLSTATE ${sqlstate})${why}`);
}

const CONSTRAINT = /(?:constraint|could not create unique index) "([^"\n]{1,63})"/;

/**
 * A source gets such rows while triggers are off, through `session_replication_role`, or if a
 * function that a constraint calls is changed.
 */
export function whichConstraint(sqlstate: string, message: string): string {
  if (!/^23(?:502|503|505|514|P01)$/.test(sqlstate)) return "";
  const name = CONSTRAINT.exec(message)?.[1];
  return (
    `: rows in the dump break ${name === undefined ? "a constraint" : `the constraint ${name}`}. ` +
    "If the source has such rows too, correct them there, or drop the constraint or make it NOT VALID, and back up again"
  );
}

/**
 * Whether the server lacks resources (class 53) or a file (class 58). 57P01 and similar codes do
 * not count, because any role may end its own connection.
 */
export function isLacking(sqlstate: string): boolean {
  return /^(?:53|58)/.test(sqlstate);
}

/**
 * Where a restore stopped because the server's host lacks an extension or a locale, after a space;
 * null if it did for another reason. From PostgreSQL 15 on, pg_restore does not name the entry.
 */
export function whatHostLacks(sqlstate: string, message: string): string | null {
  const extension = missingExtension(message);
  if (sqlstate === "0A000" && extension !== null) return ` at EXTENSION - ${extension}`;
  return sqlstate === "22023" && isOfMissingLocale(message) ? " at a COLLATION" : null;
}

/**
 * The error for such an SQLSTATE, and for an extension or a collation that the server lacks. It
 * names no version but the source's: a newer server may lack the same extension, and a container
 * must have the backup's own major version.
 */
export function lacksFeature(sqlstate: string, where = ""): RunError {
  return new RunError(
    "sandbox_lacks",
    sqlstate.startsWith("53")
      ? `the scratch PostgreSQL lacks memory or another resource that the restore needs${where} (SQLSTATE ${sqlstate}): give it more`
      : `the scratch PostgreSQL lacks a feature that the dump needs${where} (SQLSTATE ${sqlstate}): use the source's version, with its extensions and locales`,
  );
}

export function outOfMemory(): RunError {
  return new RunError(
    "sandbox_failed",
    "a process of the scratch PostgreSQL was killed during the restore, most likely because memory ran out: give it more",
  );
}

/** The server's first error. Never show it. */
export function messageIn(stderr: string): string {
  return /(?:ERROR|FATAL): +(?:[0-9A-Z]{5}: )?([^\n]*)/.exec(stderr)?.[1] ?? "";
}

/** The entry of the dump by its names, without the owner at the end. */
function entryOf(stderr: string): string | null {
  const entry = /from TOC entry [0-9]+; [0-9]+ [0-9]+ ([^\n]{1,300})/.exec(stderr)?.[1];
  if (entry !== undefined) return entry.replace(/ \S+$/, "");
  const table = /COPY failed for table "([^"\n]{1,200})"/.exec(stderr)?.[1];
  return table === undefined ? null : `TABLE DATA ${table}`;
}
