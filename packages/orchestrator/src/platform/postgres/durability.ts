import { UserError } from "../errors/user-error.ts";
import type { Logger } from "../logging/logger.ts";
import { withClient } from "../database/client.ts";
import type { ConnectionSettings } from "../database/connection-settings.ts";
import { countAsynchronousStandbys } from "./asynchronous-standbys.ts";

/** Values with which an answered commit survives a power loss. */
const DURABLE: Record<string, string[]> = {
  fsync: ["on"],
  synchronous_commit: ["on", "local", "remote_write", "remote_apply"],
  full_page_writes: ["on"],
};

const CHECK = { name: "start", statement_ms: 10_000 };

/**
 * Asks the server itself, in an ordinary session, so that overrides by a role or a database count
 * too.
 * @returns the settings that break the promise, as "name = value". A server that does not know a
 * setting (another engine behind PostgreSQL's protocol) is not asked about it.
 */
export async function readUndurableSettings(connection: ConnectionSettings): Promise<string[]> {
  return withClient(connection, CHECK, async (client) => {
    const result = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name = any($1)",
      [Object.keys(DURABLE)],
    );
    return result.rows
      .filter(({ name, setting }) => DURABLE[name]?.includes(setting) === false)
      .map(({ name, setting }) => `${name} = ${setting}`);
  });
}

/**
 * For the embedded server, which was started with all three: any other value means that somebody
 * changed it.
 */
export async function requireDurableEmbedded(connection: ConnectionSettings): Promise<void> {
  const undurable = await readUndurableSettings(connection);
  if (undurable.length > 0) throw refusal("The embedded PostgreSQL", undurable);
}

/**
 * For a server of the user's own. Its file system may make full_page_writes unnecessary (ZFS), so
 * that one is only a warning.
 */
export async function requireDurableExternal(connection: ConnectionSettings, log: Logger): Promise<void> {
  const undurable = await readUndurableSettings(connection);
  const refused = undurable.filter((setting) => !setting.startsWith("full_page_writes"));
  if (refused.length > 0) throw refusal("The database of DATABASE_URL", refused);
  if (undurable.length > 0) {
    log.warn(
      { settings: undurable },
      "full_page_writes is off: safe only on a file system that never tears a page",
    );
  }
  const standbys = await withClient(connection, CHECK, countAsynchronousStandbys);
  if (standbys > 0)
    log.warn(
      { standbys },
      "no commit waits for a standby (synchronous_standby_names): one that takes over after a failure may lack acknowledged receipts",
    );
}

function refusal(whose: string, settings: string[]): UserError {
  return new UserError(
    "database_unusable",
    `${whose} runs with ${settings.join(", ")}: a power failure could lose an acknowledged receipt. Turn it on (ALTER SYSTEM, ALTER DATABASE and ALTER ROLE can all change it), then start again.`,
  );
}
