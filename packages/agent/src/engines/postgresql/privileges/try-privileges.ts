import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { literal, PsqlSession, SessionEnded, type Statement } from "../connection/psql-session.ts";
import { PRINTING } from "../schema.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { notBuiltAsOwner } from "./built-as-owner.ts";
import { COUNT_GRANTS, grantsIn } from "./count-grants.ts";
import { LIST_PRIVILEGES, privilegesOf } from "./list-privileges.ts";
import { addedGrants, HAS_OTHERS_GRANTS, othersGrantsOf } from "./others-grants.ts";
import type { PrivilegeStatements } from "./privilege-statements.ts";

/** A dump with more takes too long, and is not compared. */
const TIME_MS = 60_000;

export interface TriedPrivileges {
  readonly listed: readonly DatabaseObject[];
  readonly grants: number;
  /** For people: what a restore with these owners and grants may not build. */
  readonly notBuilt: readonly string[];
}

/**
 * Gives the copy the owners and grants that its dump names, lists them, and takes all of them back,
 * because the loading role must still own what the checks read. Null if this takes too long, or
 * needs more than the server has room for. Nothing else may use the copy meanwhile. The statements
 * run as the server's own superuser, so they must be those of `privilegeStatements`.
 * @throws RunError
 */
export async function tryPrivileges(
  server: ScratchServer,
  database: string,
  { statements, roles }: PrivilegeStatements,
  signal: AbortSignal,
): Promise<TriedPrivileges | null> {
  const session = await PsqlSession.open(server.run, { PGDATABASE: database }, signal);
  try {
    for (const setting of [...PRINTING, `statement_timeout = ${TIME_MS}`])
      await session.run(`set ${setting}`);
    await session.run("begin");
    const names = `${literal(JSON.stringify(roles))}::json`;
    await session.run(
      `do $$ begin execute (select coalesce(string_agg(format('create role %I;', name), ''), '')
         from (select distinct each::name from json_array_elements_text(${names}) each) named(name)
         where name operator(pg_catalog.!~) '^(pg_|public$|none$)' and name <> all (select rolname from pg_roles)); end $$`,
    );
    // Only what the dump grants counts.
    await session.run("update pg_database set datacl = null where datname = current_database()");
    const before = await session.run(HAS_OTHERS_GRANTS);
    const [owners, grants] = ownersFirst(statements(database));
    const apply = (some: readonly string[]) => (): Promise<Statement> =>
      session.run(APPLY(`${literal(JSON.stringify(some))}::json`));
    const built = await notBuiltAsOwner(session, { owners: apply(owners), grants: apply(grants) });
    const listed = await session.run(LIST_PRIVILEGES);
    const counted = await session.run(COUNT_GRANTS);
    const after = await session.run(HAS_OTHERS_GRANTS);
    await session.run("rollback");
    if (!built.given || !listed.ok || !counted.ok || !before.ok || !after.ok) return null;
    const added = addedGrants(othersGrantsOf(before.output), othersGrantsOf(after.output));
    return {
      listed: [...privilegesOf(listed.output), ...added],
      grants: grantsIn(counted.output),
      notBuilt: built.names,
    };
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
}

const SETS_OWNER = /^ALTER (?!DEFAULT PRIVILEGES ).* OWNER TO /s;

function ownersFirst(statements: readonly string[]): [owners: readonly string[], grants: readonly string[]] {
  return [
    statements.filter((each) => SETS_OWNER.test(each)),
    statements.filter((each) => !SETS_OWNER.test(each)),
  ];
}

/**
 * The owner of a sequence cannot change before that of its table, so failed statements are tried
 * again. If one fails again, the list shows it, unless only this server has no room for it: each
 * statement holds locks until the end.
 */
const APPLY = (statements: string): string => `
  do $$ declare statement text; left_over text[]; failed text[]; begin
    left_over := array(select json_array_elements_text(${statements}));
    for attempt in 1..2 loop
      failed := '{}';
      foreach statement in array left_over loop
        begin execute statement;
        exception when insufficient_resources then raise; when others then failed := failed || statement; end;
      end loop;
      left_over := failed;
    end loop;
  end $$`;
