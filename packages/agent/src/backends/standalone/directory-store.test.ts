import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { directoryStore } from "./directory-store.ts";

it("a stored backup that does not fit on the disk is not called unreadable", async () => {
  const base = mkdtempSync(join(tmpdir(), "attestore-directory-store-"));
  const [storage, scratch] = [join(base, "storage"), join(base, "scratch")];
  for (const directory of [storage, scratch]) mkdirSync(directory);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", scratch]);
  expect(mounted.status, String(mounted.stderr)).toBe(0);
  try {
    writeFileSync(join(storage, "one.age"), Buffer.alloc(1024 * 1024, 1));
    const get = (key: string) =>
      directoryStore(storage).get({ key, sha256: "", sizeBytes: 1024 * 1024 }, join(scratch, "copy"), {
        signal: new AbortController().signal,
      });
    await expect(get("one.age")).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringContaining(scratch) as string,
    });
    await expect(get("another.age")).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  } finally {
    const gone = spawnSync("umount", [scratch]);
    expect(gone.status, String(gone.stderr)).toBe(0);
    rmSync(base, { recursive: true });
  }
});
