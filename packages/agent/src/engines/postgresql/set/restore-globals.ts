import { CouldNotRun } from "../../../runs/could-not-run.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { runRestrictedSql } from "../restricted-sql.ts";

/** The scratch server's own role, which stays as it is. */
const OWN_ROLE = /^(?:CREATE|ALTER) ROLE (?:attestore|"attestore")[ ;]/;
/** A statement about roles, whole in its line, and alone there; and what pg_dumpall sets before. It runs as a superuser: whatever else there is, is left out. */
const ABOUT_ROLES =
  /^(?:(?:CREATE|ALTER|COMMENT ON) ROLE|GRANT (?:"(?:[^"\\]|"")*"|[a-z_][a-z0-9_$]*) TO)(?: (?:(?!--|\/\*)[^;'"\\]|'(?:[^'\\]|'')*'|"(?:[^"\\]|"")*")*)?;$/;
const SETTING =
  /^SET (?:default_transaction_read_only = off|client_encoding = '[A-Za-z0-9_]*'|standard_conforming_strings = on);$/;

/**
 * Makes the source's roles, with their memberships and settings. A statement that fails is passed over: some depend on how the
 * server was set up; one about anything but roles is not run. Whether each role is there afterwards, a check says.
 */
export async function restoreGlobals(
  server: ScratchServer,
  globals: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const sql = globals
    .toString("latin1")
    .split("\n")
    .filter((line) => (ABOUT_ROLES.test(line) && !OWN_ROLE.test(line)) || SETTING.test(line))
    .join("\n");
  async function* content(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from(sql, "latin1"));
  }
  const { exit } = await runRestrictedSql(server, content(), {
    database: "postgres",
    stopsOnError: false,
    signal,
  });
  if (exit.code !== 0)
    throw new CouldNotRun("sandbox_failed", "the scratch PostgreSQL broke while its roles were made");
}
