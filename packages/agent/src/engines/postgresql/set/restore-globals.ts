import { CouldNotRun } from "../../../runs/could-not-run.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { runRestrictedSql } from "../restricted-sql.ts";

/** The scratch server's own role, which stays as it is. */
const OWN_ROLE = /^(?:CREATE|ALTER) ROLE attestore\b[^\n]*\n/gm;
/** A throw-away server has none of the directories. */
const TABLESPACES = /^(?:CREATE|ALTER) TABLESPACE [^\n]*\n/gm;

/**
 * Makes the source's roles, with their memberships and settings. A statement that fails is passed over: some depend on how the
 * server was set up. Whether each role is there afterwards, a check says.
 */
export async function restoreGlobals(
  server: ScratchServer,
  globals: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const sql = globals.toString("latin1").replaceAll(OWN_ROLE, "").replaceAll(TABLESPACES, "");
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
