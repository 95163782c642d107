import type { ConnectionReference } from "../../../config/source-fields.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { programsIn } from "../../../processes/run-program.ts";
import { resolveConnection } from "./connection.ts";
import { findInstallations, missing } from "./installations.ts";
import { PsqlSession, SessionEnded } from "./psql-session.ts";
import { connectionFailed } from "./session-error.ts";

/**
 * Uses one session that only reads, and closes it. `called` is for messages.
 * @throws RunError
 */
export async function inReadingSession<Result>(
  { connection, called }: { readonly connection: ConnectionReference; readonly called: string },
  signal: AbortSignal,
  use: (session: PsqlSession) => Promise<Result>,
): Promise<Result> {
  const environment = await resolveConnection(connection);
  const newest = (await findInstallations(["pg_dump"])).at(-1);
  if (newest === undefined) throw missing("pg_dump", "postgresql-client");
  const session = await PsqlSession.open(programsIn(newest.bin), environment, signal, { onlyReads: true });
  try {
    return await use(session);
  } catch (error) {
    stopIfAborted(signal);
    throw error instanceof SessionEnded ? connectionFailed(`${called} cannot be reached`, error) : error;
  } finally {
    await session.close();
  }
}
