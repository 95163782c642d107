import { errorMessage } from "@attestore/host/errno";
import { plural } from "@attestore/proof";
import type { Pool } from "pg";
import { listBackupFiles, requireBackupDirectory } from "../../features/service-backup/backup-files.ts";
import type { Config } from "../../platform/config/read-config.ts";
import { findClientPrograms } from "../../platform/postgres/client-programs.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Whether the service backs itself up, how old the newest backup is, and whether another can be
 * made.
 */
export async function examineBackup(
  { backupDirectory, backupEvery_h, postgresClient, postgres }: Config,
  pool: Pool,
  now: Date,
): Promise<Finding> {
  if (backupDirectory === undefined)
    return warning(
      "backup",
      "The service makes no backups of itself.",
      'Set ATTESTORE_BACKUP_DIRECTORY and ATTESTORE_BACKUP_RECIPIENTS (docs/operate.md, "Back up the service itself"), unless something else backs it up.',
    );
  const { rows } = await pool.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  );
  try {
    await requireBackupDirectory(backupDirectory);
    await findClientPrograms({ client: postgresClient, postgres }, rows[0]?.major ?? 0);
  } catch (error) {
    return failed("backup", errorMessage(error), "Until then the service makes no backups of itself.");
  }
  const [newest] = await listBackupFiles(backupDirectory);
  if (newest === undefined)
    return warning(
      "backup",
      `There is no backup of the service in ${backupDirectory} yet.`,
      "It makes one within five minutes of its start. Or run attestore-server service backup.",
    );
  const age_h = (now.getTime() - newest.createdAt.getTime()) / 3_600_000;
  const message = `The newest backup of the service is ${plural(Math.max(0, Math.floor(age_h)), "hour", "hours")} old.`;
  if (age_h <= 1.5 * backupEvery_h + 1) return ok("backup", message);
  return failed(
    "backup",
    message,
    "See why in the service's log (the job service_backup), or run attestore-server service backup.",
  );
}
