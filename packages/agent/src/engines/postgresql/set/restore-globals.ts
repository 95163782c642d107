import { RunError } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { PsqlSession, SessionEnded } from "../psql-session.ts";
import { globalStatements } from "./global-statements.ts";

/**
 * Creates the source's roles with their memberships and settings. It passes over statements that
 * fail, because some depend on how the server was set up. A check tells later whether each role
 * exists.
 */
export async function restoreGlobals(
  server: ScratchServer,
  globals: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const text = globals.toString("latin1");
  const encoding = /^SET client_encoding = '([A-Za-z0-9_]{1,32})';$/m.exec(text)?.[1] ?? "UTF8";
  const session = await PsqlSession.open(server.run, {}, signal);
  try {
    for (const statement of globalStatements(text)) {
      const hex = Buffer.from(statement, "latin1").toString("hex");
      await session.run(
        `do $attestore$ begin execute pg_catalog.convert_from(pg_catalog.decode('${hex}', 'hex'), '${encoding}'); end $attestore$`,
      );
    }
  } catch (error) {
    throw error instanceof SessionEnded
      ? new RunError("sandbox_failed", "the scratch PostgreSQL broke while its roles were made")
      : error;
  } finally {
    await session.close();
  }
}
