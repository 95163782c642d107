import { buffer } from "node:stream/consumers";
import { endedWith } from "../../../processes/child.ts";
import { programsIn } from "../../../processes/run-program.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { type DatabaseToDump, firstError } from "../dump/database-dump.ts";
import { connectionArguments, type PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import {
  type DatabaseObject,
  exactObjectsMetadata,
  type ExactObjectsMetadata,
} from "../../content/tagged-objects.ts";
import { unchanged } from "../content/describe-objects.ts";
import { decodeSql } from "../printed/dump-encodings.ts";
import { outputOf } from "../connection/session-error.ts";
import { majorOf } from "../connection/version.ts";
import { globalsInDump } from "./globals-in-dump.ts";
import { isUndumped } from "./global-objects.ts";
import { type ListedServer, listGlobals } from "./list-globals.ts";

export interface Globals {
  readonly sql: Buffer;
  /** The names of the roles. */
  readonly roles: readonly string[];
  /** Whether the dump contains the roles' password hashes. Only a superuser may read them. */
  readonly hasPasswords: boolean;
  /** Null if they could not be listed, or changed during the dump. */
  readonly objects: ExactObjectsMetadata | null;
}

const ROLES = "select json_build_array(rolname) from pg_roles where rolname !~ '^pg_' order by rolname";
const MAY_READ_PASSWORDS = "select has_table_privilege('pg_catalog.pg_authid', 'select')";

/**
 * Dumps what belongs to the whole server: roles, their memberships and settings, tablespaces.
 * @throws RunError
 */
export async function dumpGlobals(
  { environment, tools, contentKey, signal }: DatabaseToDump,
  session: PsqlSession,
  version: string,
): Promise<Globals> {
  const roles = rowsOf(outputOf(await session.run(ROLES), "listing the roles")).map(([name = ""]) => name);
  const hasPasswords = outputOf(await session.run(MAY_READ_PASSWORDS), "asking for rights").trim() === "t";
  const server = { major: majorOf(version), dumpMajor: majorOf(tools.version), hasPasswords };
  // A complete dump must not fail because the connection broke.
  const list = () => (contentKey === undefined ? null : listGlobals(session, server).catch(() => null));
  const before = await list();
  const child = await programsIn(tools.bin)("pg_dumpall", {
    args: [
      "--globals-only",
      "--no-password",
      ...(hasPasswords ? [] : ["--no-role-passwords"]),
      ...connectionArguments(environment),
    ],
    // `VALID UNTIL` is printed as the session prints times.
    env: { ...environment, PGTZ: "UTC", PGDATESTYLE: "ISO" },
    signal,
  });
  child.stdin.end();
  const [sql, exit] = await Promise.all([buffer(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code !== 0)
    throw new RunError("dump_failed", `pg_dumpall ended with ${endedWith(exit)}${firstError(exit.stderr)}`);
  const listed = unchanged(before, await list());
  const objects =
    listed === null || contentKey === undefined ? null : describe(listed, sql, server, contentKey);
  return { sql, roles, hasPasswords, objects };
}

/** Null if the dump cannot be read here, which would make all of it look damaged later. */
function describe(
  listed: readonly DatabaseObject[],
  sql: Buffer,
  { hasPasswords }: ListedServer,
  key: Buffer,
): ExactObjectsMetadata | null {
  const text = decodeSql(sql);
  if (text.includes(UNREADABLE)) return null;
  const unread = globalsInDump(text).filter(({ name }) => name === "");
  const kinds = new Set([
    ...(hasPasswords ? [] : ["role_password"]),
    ...[...unread, ...listed.filter(isUndumped)].map(({ kind }) => kind),
  ]);
  const left_out = [...kinds].map((kind) => [kind, null] as const);
  const compared = listed.filter(({ kind }) => !kinds.has(kind));
  return { ...exactObjectsMetadata(compared, key), ...(left_out.length === 0 ? {} : { left_out }) };
}

/** What stands for bytes that are no text in the dump's encoding. */
const UNREADABLE = "\u{fffd}";
