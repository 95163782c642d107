import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";

const NAME = /^attestore-service-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.age$/;

/** A backup of the service that was whole when it was written: only then it gets its name. */
export interface BackupFile {
  path: string;
  createdAt: Date;
  bytes: number;
}

export function backupFileName(at: Date): string {
  return `attestore-service-${at.toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "")}.age`;
}

/** Newest first; none without the directory. */
export async function listBackupFiles(directory: string): Promise<BackupFile[]> {
  const names = (await nullIfMissing(readdir(directory))) ?? [];
  const files: BackupFile[] = [];
  for (const name of names.toSorted().toReversed()) {
    const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
    if (year === undefined) continue;
    const path = join(directory, name);
    const found = await nullIfMissing(stat(path));
    if (found?.isFile() !== true) continue;
    const createdAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    files.push({ path, createdAt, bytes: found.size });
  }
  return files;
}

/** Removes all but the newest `keep`. */
export async function removeOldBackupFiles(directory: string, keep: number): Promise<void> {
  for (const { path } of (await listBackupFiles(directory)).slice(keep)) await removeFile(path);
}

const UNFINISHED = /^\.attestore-service-.*\.age\.[0-9a-f]{12}\.tmp$/;
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** What was interrupted at least a day ago; a younger one may be somebody's work. */
export async function removeUnfinishedBackups(directory: string): Promise<void> {
  for (const name of (await nullIfMissing(readdir(directory))) ?? []) {
    if (!UNFINISHED.test(name)) continue;
    const found = await nullIfMissing(stat(join(directory, name)));
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
      await removeFile(join(directory, name));
  }
}
