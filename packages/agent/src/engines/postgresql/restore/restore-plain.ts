import { RunError } from "../../../errors/run-error.ts";
import { diskFullDuringRestore, whyItDied } from "../../disk-full.ts";
import { RestoreRefused } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { peekStart } from "../../peek-start.ts";
import {
  giveToLoader,
  LOADING_ROLE,
  needsOf,
  isBeyondLoader,
  needsSuperuser,
} from "../database/loading-role.ts";
import { isServerError } from "../connection/server-error.ts";
import { PlainErrors } from "./psql-errors.ts";
import { makeRoles, withRolesMade } from "../database/policy-roles.ts";
import {
  isLacking,
  lacksFeature,
  messageIn,
  outOfMemory,
  whatHostLacks,
  whichConstraint,
} from "./refusal.ts";
import { runRestrictedSql } from "./restricted-sql.ts";
import { missingOnServer } from "./missing-on-server.ts";

/** pg_dump writes all extensions right after the schemas, before any content. */
const HEAD_BYTES = 1 << 20;

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
  const dump = await peekStart(content, HEAD_BYTES);
  const needs = needsOf(dump.head.toString("utf8"));
  const schemas = await giveToLoader(server, database, needs, signal).catch(async (error: unknown) => {
    await dump.close();
    throw error;
  });
  const errors = new PlainErrors(schemas);
  const before = server.errors.length;
  const make = (roles: readonly string[]): Promise<void> => makeRoles(server.run, roles, signal);
  const { exit, end } = await runRestrictedSql(server, withRolesMade(dump.content, make), {
    database,
    role: LOADING_ROLE,
    stopsOnError: false,
    signal,
    onErrorLine: (line) => errors.look(line),
  });
  if (server.hasDied())
    throw new RunError(
      "sandbox_failed",
      `the scratch PostgreSQL died during the restore${whyItDied(server)}`,
    );
  if (server.wasKilled?.() === true) throw outOfMemory();
  const { first } = errors;
  // The message quotes rows, so pass on only its SQLSTATE.
  const sqlstate = /^(?:ERROR|FATAL|PANIC): +([0-9A-Z]{5}):/.exec(first ?? "")?.[1];
  // Code in the dump may raise any SQLSTATE and write lines into its message. What the server
  // itself logged is reliable.
  const isOwn = sqlstate !== undefined && (await isServerError(server, sqlstate, before + errors.at));
  if (server.hasRunFull()) throw diskFullDuringRestore(server);
  const lacked = isOwn ? whatHostLacks(sqlstate, messageIn(first ?? "")) : null;
  if (isOwn && (lacked !== null || isLacking(sqlstate))) throw lacksFeature(sqlstate, lacked ?? "");
  const lacks = isOwn && first !== null ? missingOnServer(sqlstate, messageIn(first)) : null;
  if (lacks !== null) throw lacks;
  if (isOwn && first !== null && isBeyondLoader(sqlstate, messageIn(first)))
    throw needsSuperuser(sqlstate, first);
  if (first !== null)
    throw new RestoreRefused(
      `the dump cannot be loaded (${sqlstate === undefined ? "psql refuses it" : `SQLSTATE ${sqlstate}`})${isOwn ? whichConstraint(sqlstate, first) : ""}`,
    );
  if (exit.code !== 0)
    throw new RunError("sandbox_failed", `psql ended with exit code ${exit.code ?? "none"}`);
  if (!/^-- PostgreSQL database dump complete/m.test(end))
    throw new RestoreRefused("the dump's last line is missing: it was cut short");
}
