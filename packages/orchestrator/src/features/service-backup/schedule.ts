import { spawn } from "node:child_process";
import type { Job } from "../../platform/jobs/job.ts";
import { listBackupFiles, requireBackupDirectory } from "./backup-files.ts";
import { endOf } from "./program-end.ts";

export interface ScheduleOptions {
  /** ATTESTORE_BACKUP_DIRECTORY */
  directory: string;
  every_h: number;
}

const LOOK_EVERY_S = 300;

/**
 * Makes a backup of the service when the newest in the directory is old enough. A process of its
 * own does it: encrypting would hold up the service's only thread.
 */
export function serviceBackupJob({ directory, every_h }: ScheduleOptions): Job {
  return {
    name: "service_backup",
    every_s: LOOK_EVERY_S,
    run: async ({ now, signal }) => {
      await requireBackupDirectory(directory);
      const [newest] = await listBackupFiles(directory);
      // A clock that was wrong must not stop the backups until that time comes.
      const age_ms = Math.abs(now.getTime() - (newest?.createdAt.getTime() ?? 0));
      if (age_ms < every_h * 3_600_000) return;
      const child = spawn(process.execPath, [process.argv[1] ?? "", "service", "backup"], {
        stdio: ["ignore", "ignore", "pipe"],
        signal,
      });
      await endOf(child, "attestore-server service backup");
    },
  };
}
