import type { ClientBase } from "pg";
import { UserError } from "../../platform/errors/user-error.ts";
import { type LogsDigest, readLogsDigest } from "./contents.ts";

/**
 * Citus spreads rows over machines, and has no snapshot of all of them: a dump has entries of later
 * moments than its logs. Nothing was added if the logs are after it what they were before, because
 * every entry changes its log's row.
 * @param before the logs that the dump has; its transaction is over
 * @throws UserError `backup_failed`
 */
export async function requireUnchangedLogs(client: ClientBase, before: LogsDigest): Promise<void> {
  if (!(await isSpread(client))) return;
  const { sha256 } = await readLogsDigest(client);
  if (sha256 !== before.sha256)
    throw new UserError(
      "backup_failed",
      "The logs took entries while the database was dumped, and Citus has no snapshot of all machines: the backup would not be sound, so it was removed. Stop every replica of the service, then back up again.",
    );
}

/** Citus' list of the tables that it spreads. */
async function isSpread(client: ClientBase): Promise<boolean> {
  const { rows: known } = await client.query<{ is_there: boolean }>(
    "select to_regclass('pg_dist_partition') is not null as is_there",
  );
  if (known[0]?.is_there !== true) return false;
  const { rows } = await client.query("select from pg_dist_partition limit 1");
  return rows.length > 0;
}
