import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { UserError } from "../../platform/errors/user-error.ts";

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

/**
 * A person makes the directory of backups, and nobody else. If it is on a disk that is not mounted,
 * one that was made in its place would take them to another disk. `setting` is what names it.
 * @throws UserError `backup_failed`
 */
export async function requireBackupDirectory(
  directory: string,
  setting = "ATTESTORE_BACKUP_DIRECTORY",
): Promise<void> {
  const found = await nullIfMissing(stat(directory));
  if (found?.isDirectory() === true) return;
  throw new UserError(
    "backup_failed",
    `There is no directory ${directory} (${setting}). If it is on a disk, mount the disk. Otherwise make it, for the user that writes there.`,
  );
}

const CLOCKS_APART_MS = 3_600_000;

/**
 * Newest first; none without the directory. A file with a name from the future is left alone: it
 * does not tell how old the newest is, and must not push another one out.
 */
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
    if (createdAt.getTime() - Date.now() <= CLOCKS_APART_MS)
      files.push({ path, createdAt, bytes: found.size });
  }
  return files;
}

/** Keeps `keep`: the one just written, whatever the clock said then, and the newest others. */
export async function removeOldBackupFiles(directory: string, keep: number, written: string): Promise<void> {
  const others = (await listBackupFiles(directory)).filter(({ path }) => path !== written);
  for (const { path } of others.slice(keep - 1)) await removeFile(path);
}

const UNFINISHED = /^\.attestore-service-.*\.age\.[0-9a-f]{12}\.tmp$/;
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** A backup that was interrupted at least a day ago. A younger one may still be in progress. */
export async function removeUnfinishedBackups(directory: string): Promise<void> {
  for (const name of (await nullIfMissing(readdir(directory))) ?? []) {
    if (!UNFINISHED.test(name)) continue;
    const found = await nullIfMissing(stat(join(directory, name)));
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
      await removeFile(join(directory, name));
  }
}
