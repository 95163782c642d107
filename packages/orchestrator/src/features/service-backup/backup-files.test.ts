import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backupFileName, listBackupFiles, removeOldBackupFiles } from "./backup-files.ts";

const DAY_MS = 86_400_000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "backup-files-"));
});
afterEach(() => rm(directory, { recursive: true }));

async function add(daysAgo: number): Promise<string> {
  const name = backupFileName(new Date(Date.now() - daysAgo * DAY_MS));
  await writeFile(join(directory, name), "");
  return name;
}

test("backups with names of the future push no real one out, and are not the newest", async () => {
  const planted = [await add(-3), await add(-4), await add(-5)];
  const real = [await add(0), await add(1)];
  await add(2);
  const [newest] = await listBackupFiles(directory);
  expect(newest?.path).toBe(join(directory, real[0]!));
  await removeOldBackupFiles(directory, 2, newest!.path);
  expect((await readdir(directory)).toSorted()).toEqual([...planted, ...real].toSorted());
});

test("a backup that was just written stays although a wrong clock called it the oldest", async () => {
  const others = [await add(1), await add(2)];
  const written = await add(9000);
  await removeOldBackupFiles(directory, 2, join(directory, written));
  expect((await readdir(directory)).toSorted()).toEqual([others[0]!, written].toSorted());
});

test("files of other names stay, whatever their age", async () => {
  await writeFile(join(directory, "attestore-service-notes.txt"), "");
  const written = await add(0);
  await add(3);
  await removeOldBackupFiles(directory, 1, join(directory, written));
  expect((await readdir(directory)).toSorted()).toEqual([written, "attestore-service-notes.txt"].toSorted());
});
