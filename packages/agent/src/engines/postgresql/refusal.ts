import { endedWith, type Exit } from "../../processes/child.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import type { ScratchPostgres } from "../../sandboxes/process/scratch-postgres.ts";
import { RestoreRefused } from "../engine.ts";
import { isOfThePlace } from "./session-error.ts";

const DISK_FULL = "53100";

/**
 * Whose fault it is that pg_restore failed: the scratch server's, so that nothing is known of the backup, or the dump's.
 *
 * pg_restore's messages quote rows. What goes on is the SQLSTATE, which the server's log has, and which entry of the dump
 * it was, which is names only.
 */
export function refusalOf(
  exit: Exit,
  server: ScratchPostgres,
  sqlstates: readonly string[],
): CouldNotRun | RestoreRefused {
  if (sqlstates.includes(DISK_FULL) || /No space left on device/.test(exit.stderr)) {
    return new CouldNotRun(
      "disk_full",
      "the scratch directory's file system filled up during the restore: give it more room",
    );
  }
  if (server.hasDied())
    return new CouldNotRun("sandbox_failed", "the scratch PostgreSQL died during the restore");
  if (exit.signal !== null)
    return new CouldNotRun("sandbox_failed", `pg_restore ended with ${endedWith(exit)}`);

  const sqlstate = sqlstates.at(-1);
  const entry = /from TOC entry [0-9]+; [0-9]+ [0-9]+ ([^\n]{1,300})/.exec(exit.stderr)?.[1];
  const where = entry === undefined ? "" : ` at "${entry.replace(/ \S+$/, "")}"`;
  if (sqlstate === undefined) {
    // No word of the server: pg_restore did not like the archive itself. Such messages are its own, and quote nothing.
    const message = /pg_restore: error: ([^\n]{1,200})/.exec(exit.stderr)?.[1] ?? endedWith(exit);
    return new RestoreRefused(`pg_restore refuses the dump${where}: ${message}`);
  }
  if (isOfThePlace(sqlstate) || /^(?:EXTENSION|COLLATION) /.test(entry ?? "")) {
    return new CouldNotRun(
      "sandbox_lacks",
      `the scratch PostgreSQL could not restore what it lacks${where} (SQLSTATE ${sqlstate}): give it what the source has`,
    );
  }
  return new RestoreRefused(`pg_restore failed${where} (SQLSTATE ${sqlstate})`);
}
