import { buffer } from "node:stream/consumers";
import { endedWith } from "../../../processes/child.ts";
import { programsIn } from "../../../processes/run-program.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { type DatabaseToDump, firstError } from "../database-dump.ts";
import { connectionArguments, type PsqlSession } from "../psql-session.ts";
import { rowsOf } from "../schema.ts";
import { outputOf } from "../session-error.ts";

export interface Globals {
  readonly sql: Buffer;
  /** The names of the roles. */
  readonly roles: readonly string[];
  /** Whether the dump contains the roles' password hashes. Only a superuser may read them. */
  readonly hasPasswords: boolean;
}

const ROLES = "select json_build_array(rolname) from pg_roles where rolname !~ '^pg_' order by rolname";
const MAY_READ_PASSWORDS = "select has_table_privilege('pg_catalog.pg_authid', 'select')";

/**
 * Dumps what belongs to the whole server: roles, their memberships and settings, tablespaces.
 * @throws RunError
 */
export async function dumpGlobals(
  { environment, tools, signal }: DatabaseToDump,
  session: PsqlSession,
): Promise<Globals> {
  const roles = rowsOf(outputOf(await session.run(ROLES), "listing the roles")).map(([name = ""]) => name);
  const hasPasswords = outputOf(await session.run(MAY_READ_PASSWORDS), "asking for rights").trim() === "t";
  const child = await programsIn(tools.bin)("pg_dumpall", {
    args: [
      "--globals-only",
      "--no-password",
      ...(hasPasswords ? [] : ["--no-role-passwords"]),
      ...connectionArguments(environment),
    ],
    env: environment,
    signal,
  });
  child.stdin.end();
  const [sql, exit] = await Promise.all([buffer(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code === 0) return { sql, roles, hasPasswords };
  throw new RunError("dump_failed", `pg_dumpall ended with ${endedWith(exit)}${firstError(exit.stderr)}`);
}
