import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serviceBackupJob } from "./schedule.ts";

test("the service makes no directory for its scheduled backups: its disk may not be mounted", async () => {
  const mountPoint = await mkdtemp(join(tmpdir(), "service-backups-"));
  onTestFinished(() => rm(mountPoint, { recursive: true }));
  const directory = join(mountPoint, "attestore");
  const job = serviceBackupJob({ directory, every_h: 24 });
  const now = new Date();
  await expect(
    job.run({ now, runningSince: now, signal: new AbortController().signal }),
  ).rejects.toMatchObject({
    code: "backup_failed",
    message: expect.stringContaining(`There is no directory ${directory}`) as string,
  });
  expect(existsSync(directory)).toBe(false);
});
