import { Gauge, type Registry } from "prom-client";
import { listBackupFiles } from "./backup-files.ts";
import type { ScheduleOptions } from "./schedule.ts";

/** How old this machine's backups of the service are, and how old they may get. */
export function measureServiceBackups(registry: Registry, { directory, every_h }: ScheduleOptions): void {
  new Gauge({
    name: "attestore_service_backup_newest_timestamp_seconds",
    help: "Time of the newest backup of the service in ATTESTORE_BACKUP_DIRECTORY; 0 if there is none.",
    registers: [registry],
    async collect() {
      const [newest] = await listBackupFiles(directory).catch(() => []);
      this.set(newest === undefined ? 0 : newest.createdAt.getTime() / 1000);
    },
  });
  new Gauge({
    name: "attestore_service_backup_interval_seconds",
    help: "Time from one backup of the service to the next; absent if it makes none by itself.",
    registers: [registry],
  }).set(every_h * 3600);
}
