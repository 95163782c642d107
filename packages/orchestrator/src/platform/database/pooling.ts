import { randomUUID } from "node:crypto";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import type { DatabaseClient } from "./servers.ts";

const CHECK = { name: "start", statement_ms: 10_000 };
/** Others who use the same pooler may get the session that would show it. */
const ROUNDS = 10;
/** Answers of poolers to a transaction if they pool single statements. */
const PROTOCOL_VIOLATION = "08P01";

/**
 * Refuses a pooler that gives each transaction another session of the server: roles, limits of
 * time, locks and LISTEN belong to a session, so one organisation's request could run with what
 * another connection has set.
 * @throws UserError `database_unusable`
 */
export async function requireOwnSessions(connection: ConnectionSettings): Promise<void> {
  const shared = await withClient(connection, CHECK, async (first) => {
    const { rows } = await first.query<{ pid: number }>("select pg_backend_pid() as pid");
    // A pooler gives its clients numbers of its own.
    if ((first as unknown as { processID: number }).processID === rows[0]?.pid) return null;
    return withClient(connection, CHECK, (second) => sharedSession(first, second));
  });
  if (shared !== null)
    throw new UserError(
      "database_unusable",
      `A pooler between this program and the database does not give each connection its own session (${shared}). Have it pool sessions (pool_mode = session in PgBouncer), or connect to PostgreSQL directly.`,
    );
}

/**
 * The sign that showed it, or null. A setting of one connection must still be there later, and only
 * for that one.
 */
async function sharedSession(first: DatabaseClient, second: DatabaseClient): Promise<string | null> {
  const mark = randomUUID();
  await first.query("select set_config('attestore.session', $1, false)", [mark]);
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      await second.query("begin");
      if ((await markOf(second)) === mark) return "it pools transactions: another connection got its session";
      if ((await markOf(first)) !== mark) return "it pools transactions: a setting of the session was lost";
      await second.query("rollback");
    } catch (error) {
      if (errorCode(error) === PROTOCOL_VIOLATION) return errorMessage(error);
      throw error;
    }
  }
  return null;
}

async function markOf(client: DatabaseClient): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>(
    "select current_setting('attestore.session', true) as mark",
  );
  return rows[0]?.mark ?? null;
}
