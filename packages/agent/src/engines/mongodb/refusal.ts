import { endedWith, type Exit } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";
import { RestoreRefused } from "../engine.ts";

/**
 * Names of server errors about something that this server lacks or does differently. They say
 * nothing against the dump.
 */
const LACKING: ReadonlySet<string> = new Set([
  "CommandNotFound",
  "CommandNotSupported",
  "IncompatibleServerVersion",
  "InvalidIndexSpecificationOption",
  "InvalidOptions",
  "NotImplemented",
]);

/**
 * Decides who is to blame if loading a dump failed: the scratch server, so nothing is known about
 * the backup, or the dump. mongorestore quotes documents. So only the name of the server's error is
 * passed on, or what it says about the archive.
 */
export function refusalOf(exit: Exit, output: string, hasDied: boolean): RunError | RestoreRefused {
  if (/No space left on device|database or disk is full|OutOfDiskSpace/i.test(output)) {
    return new RunError(
      "disk_full",
      "the scratch directory's file system filled up during the restore: give it more space",
    );
  }
  if (hasDied) return new RunError("sandbox_failed", "the scratch server died during the restore");
  if (
    exit.signal !== null ||
    /server selection error|connection pool|socket was unexpectedly closed/.test(output)
  )
    return new RunError("sandbox_failed", `mongorestore ended with ${endedWith(exit)}`);
  const [, name] = /\(([A-Z][A-Za-z]{2,60})\)/.exec(output) ?? [];
  if (name !== undefined && LACKING.has(name)) {
    return new RunError(
      "sandbox_lacks",
      `the scratch server lacks a feature that the dump needs (${name}): use the source's version`,
    );
  }
  if (/E11000|DuplicateKey/.test(output))
    return new RestoreRefused(
      "the dump cannot be loaded (it has two documents with the same _id or the same value of a unique index, as when somebody writes to the source while it is dumped: back it up again)",
    );
  const [archive] = /archive|corrupt|unexpected EOF/i.exec(output) ?? [];
  const why = name ?? (archive === undefined ? endedWith(exit) : "the archive is damaged or cut short");
  return new RestoreRefused(`the dump cannot be loaded (${why})`);
}
