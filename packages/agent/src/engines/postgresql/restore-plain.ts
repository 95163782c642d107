import { CouldNotRun } from "../../runs/could-not-run.ts";
import { diskFullDuringRestore, whyItDied } from "../disk-full.ts";
import { RestoreRefused } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { runRestrictedSql } from "./restricted-sql.ts";

/** Owners and rights name roles that are not here; pg_restore leaves those out, a dump in SQL has them in it. */
const MISSING_ROLE = /^ERROR: +42704: role "/;
/** What goes with an error, and what is none. Anything else that psql says is one: its own have no prefix. */
const NO_PROBLEM = /^(?:LOCATION|DETAIL|HINT|CONTEXT|QUERY|NOTICE|WARNING|INFO|LINE [0-9]+):|^[ ^]*$/;

/**
 * Loads a dump in SQL. Statements that fail for a role that is not here are passed over; every other error counts.
 * @throws RestoreRefused, CouldNotRun, and whatever the content throws.
 */
export async function restorePlain(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  let first = null as string | null;
  const { exit, end } = await runRestrictedSql(server, content, {
    database,
    stopsOnError: false,
    signal,
    onErrorLine: (line) => {
      if (!NO_PROBLEM.test(line) && !MISSING_ROLE.test(line)) first ??= line;
    },
  });
  if (server.hasDied())
    throw new CouldNotRun(
      "sandbox_failed",
      `the scratch PostgreSQL died during the restore${whyItDied(server)}`,
    );
  // The message quotes rows: its SQLSTATE goes on.
  const sqlstate = /^(?:ERROR|FATAL|PANIC): +([0-9A-Z]{5}):/.exec(first ?? "")?.[1];
  if (sqlstate === "53100") {
    throw diskFullDuringRestore(server);
  }
  if (/extension "[^"]*" is not available/.test(first ?? "") || /^(?:53|57P|58)/.test(sqlstate ?? "")) {
    throw new CouldNotRun(
      "sandbox_lacks",
      `the scratch PostgreSQL could not restore what it lacks (SQLSTATE ${sqlstate ?? "?"}): give it what the source has`,
    );
  }
  if (first !== null)
    throw new RestoreRefused(
      `the dump cannot be loaded (${sqlstate === undefined ? "psql refuses it" : `SQLSTATE ${sqlstate}`})`,
    );
  if (exit.code !== 0)
    throw new CouldNotRun("sandbox_failed", `psql ended with exit code ${exit.code ?? "none"}`);
  if (!/^-- PostgreSQL database dump complete/m.test(end))
    throw new RestoreRefused("the dump's last line is missing: it was cut short");
}
