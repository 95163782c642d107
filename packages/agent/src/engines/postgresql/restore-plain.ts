import { RunError } from "../../errors/run-error.ts";
import { diskFullDuringRestore, whyItDied } from "../disk-full.ts";
import { RestoreRefused } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { peekStart } from "../peek-start.ts";
import { giveToLoader, LOADING_ROLE, needsOf, needsSuperuser } from "./loading-role.ts";
import { isOwnError } from "./own-error.ts";
import { isLacking, outOfMemory } from "./refusal.ts";
import { runRestrictedSql } from "./restricted-sql.ts";

/**
 * Owners and rights name roles that do not exist here. pg_restore leaves them out, but a dump in
 * SQL contains them.
 */
const MISSING_ROLE =
  /^ERROR: +(?:42704: role "|42501: (?:must be (?:able to SET ROLE|member of role) "|permission denied to change default privileges))/;
/** A throw-away server publishes to nobody and subscribes to nothing. */
const REPLICATION =
  /^ERROR: +(?:42501: (?:must be superuser to create (?:FOR ALL TABLES publication|subscriptions)|permission denied to create subscription)|42704: (?:publication|subscription) "[^"]*" does not exist)/;
/** What the role that loads a dump may not do. */
const NOT_ALLOWED = /^ERROR: +42501: /;
/** pg_dump writes all extensions right after the schemas, before any content. */
const HEAD_BYTES = 1 << 20;
/**
 * Lines that belong to an error, and lines that are no error. Everything else from psql is an
 * error; psql's own errors have no prefix.
 */
const NO_PROBLEM = /^(?:LOCATION|DETAIL|HINT|CONTEXT|QUERY|NOTICE|WARNING|INFO|LINE [0-9]+):|^[ ^]*$/;

/**
 * Loads a dump in SQL as a role that may only fill this database. Statements that fail because a
 * role does not exist here are passed over. Every other error counts.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restorePlain(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  let first = null as string | null;
  const dump = await peekStart(content, HEAD_BYTES);
  const needs = needsOf(dump.head.toString("utf8"));
  const schemas = await giveToLoader(server, database, needs, signal).catch(async (error: unknown) => {
    await dump.close();
    throw error;
  });
  const passesOver = (line: string): boolean => {
    const schema = /^ERROR: +42P06: schema "(.*)" already exists$/.exec(line)?.[1];
    return (
      NO_PROBLEM.test(line) ||
      MISSING_ROLE.test(line) ||
      REPLICATION.test(line) ||
      (schema !== undefined && schemas.has(schema))
    );
  };
  const { exit, end } = await runRestrictedSql(server, dump.content, {
    database,
    role: LOADING_ROLE,
    stopsOnError: false,
    signal,
    onErrorLine: (line) => {
      if (!passesOver(line)) first ??= line;
    },
  });
  if (server.hasDied())
    throw new RunError(
      "sandbox_failed",
      `the scratch PostgreSQL died during the restore${whyItDied(server)}`,
    );
  if (server.wasKilled?.() === true) throw outOfMemory();
  // The message quotes rows, so pass on only its SQLSTATE.
  const sqlstate = /^(?:ERROR|FATAL|PANIC): +([0-9A-Z]{5}):/.exec(first ?? "")?.[1];
  // Code in the dump may raise any SQLSTATE and write lines into its message. What the server
  // itself logged is reliable.
  const isOwn = sqlstate !== undefined && (await isOwnError(server, sqlstate));
  if (server.hasRunFull()) throw diskFullDuringRestore(server);
  if (isOwn && (/extension "[^"]*" is not available/.test(first ?? "") || isLacking(sqlstate))) {
    throw new RunError(
      "sandbox_lacks",
      `the scratch PostgreSQL lacks a feature that the dump needs (SQLSTATE ${sqlstate ?? "?"}): install what the source has`,
    );
  }
  if (isOwn && first !== null && NOT_ALLOWED.test(first)) throw needsSuperuser(first);
  if (first !== null)
    throw new RestoreRefused(
      `the dump cannot be loaded (${sqlstate === undefined ? "psql refuses it" : `SQLSTATE ${sqlstate}`})`,
    );
  if (exit.code !== 0)
    throw new RunError("sandbox_failed", `psql ended with exit code ${exit.code ?? "none"}`);
  if (!/^-- PostgreSQL database dump complete/m.test(end))
    throw new RestoreRefused("the dump's last line is missing: it was cut short");
}
