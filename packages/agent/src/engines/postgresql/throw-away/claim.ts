import { setTimeout as sleep } from "node:timers/promises";
import { RunError } from "../../../errors/run-error.ts";
import { literal, type PsqlSession } from "../connection/psql-session.ts";
import { contentsOf, emptyDatabase } from "./contents.ts";
import { preparation } from "./preparation.ts";

/**
 * The comment of a database that may be emptied begins with this. A dump of one database does not
 * contain the database's own comment.
 */
export const MARK = "attestore:throw-away";
/** Our mark, while a restore test runs. */
const OURS = `${MARK} (while a restore test runs)`;
/** Held by the session that uses the database, so that two tests never use it at once. */
const LOCK = "7238472837465";
const CONNECTED = `
  select exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')`;
const LOOKS = 20;
const LOOK_EVERY_MS = 100;

export interface Claim {
  /**
   * Empties the database and restores its comment.
   * @throws RunError if anything is left
   */
  release(session: PsqlSession): Promise<void>;
}

/**
 * Takes a database for a restore test if it is empty, or if it has our mark, and then empties it.
 * It refuses every database that may belong to somebody: one with content and without a mark, one
 * with another connection, a template, a standby.
 * An empty database is marked first. So after kill -9 its content is known to be ours, and the next
 * test removes it. `session` holds the lock, so keep it open until the release.
 * @throws RunError
 */
export async function claimThrowAway(session: PsqlSession): Promise<Claim> {
  const ask = async (sql: string): Promise<string> => preparation(await session.run(sql)).trim();
  const name = await ask("select quote_ident(current_database())");
  const problem = await ask(`
    select case
      when pg_is_in_recovery() then 'is a standby'
      when datistemplate or datname in ('postgres', 'template0', 'template1') then 'is one of the server''s own'
      when not pg_has_role(datdba, 'usage') then 'is not owned by its role (alter database … owner to …)'
      when exists (select from pg_namespace where nspname = 'public' and not pg_has_role(nspowner, 'usage'))
        then 'has a schema public that its role does not own, which it could not empty (alter schema public owner to …)'
      when not pg_try_advisory_lock(${LOCK}) then 'is in use by another restore test'
    end from pg_database d where datname = current_database()`);
  if (problem !== "") throw refused(name, problem);
  // Look under the lock, and more than once: two tests that see each other would otherwise both
  // give up, although all but the one with the lock are about to leave.
  for (let looks = 1; (await ask(CONNECTED)) === "t"; looks++) {
    if (looks === LOOKS) throw refused(name, "is in use: another client is connected to it");
    await sleep(LOOK_EVERY_MS);
  }
  const comment = await ask(
    "select coalesce(shobj_description(oid, 'pg_database'), '') from pg_database where datname = current_database()",
  );
  const contents = await contentsOf(session);
  if (contents !== "") {
    if (!comment.startsWith(MARK)) {
      throw refused(
        name,
        `is not empty (${contents.slice(0, 200)}). If everything in it may be deleted: comment on database ${name} is '${MARK}'`,
      );
    }
    await emptied(session, name);
  }
  const say = async (by: PsqlSession, text: string): Promise<void> => {
    const value = text === "" ? "'null'" : `quote_literal(${literal(text)})`;
    const comment = `do $attestore$ begin execute ${literal(`comment on database ${name} is `)} || ${value}; end $attestore$`;
    preparation(await by.run(comment));
  };
  const kept = comment === OURS ? "" : comment;
  if (!comment.startsWith(MARK)) await say(session, OURS);
  return {
    release: async (by) => {
      await emptied(by, name);
      // Remove the mark last: without it, what is still in the database would seem to belong to
      // somebody.
      if (!kept.startsWith(MARK)) await say(by, kept);
    },
  };
}

async function emptied(session: PsqlSession, name: string): Promise<void> {
  await emptyDatabase(session);
  const left = await contentsOf(session);
  if (left === "") return;
  throw new RunError(
    "sandbox_failed",
    `the throw-away database ${name} could not be emptied, ${left.slice(0, 200)} are left: drop and recreate it`,
  );
}

function refused(name: string, why: string): RunError {
  return new RunError("sandbox_failed", `the database ${name} of sandbox.database ${why}`);
}
