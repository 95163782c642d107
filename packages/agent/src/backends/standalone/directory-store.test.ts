import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SmallDisk } from "../../../../host/test/small-disk.ts";
import { directoryStore } from "./directory-store.ts";

it("a stored backup that does not fit on the disk is not called unreadable", async () => {
  const base = mkdtempSync(join(tmpdir(), "attestore-directory-store-"));
  const [storage, scratch] = [join(base, "storage"), join(base, "scratch")];
  for (const directory of [storage, scratch]) mkdirSync(directory);
  try {
    using _ = new SmallDisk(scratch, { bytes: 64 << 10 });
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
    rmSync(base, { recursive: true });
  }
});

it("a backup is copied to a storage on another file system, whole or not at all", async () => {
  const base = mkdtempSync(join(tmpdir(), "attestore-directory-store-"));
  const storage = join(base, "storage");
  mkdirSync(storage);
  try {
    using _ = new SmallDisk(storage, { bytes: 4 << 20 });
    mkdirSync(join(storage, "shop"));
    // Of a copy that was killed.
    writeFileSync(join(storage, "shop/.one.age.partial-0123456789ab"), "x");
    const progress: number[][] = [];
    const put = (name: string, content: Buffer) => {
      writeFileSync(join(base, name), content);
      return directoryStore(storage).put(
        { key: `shop/${name}`, sha256: "", sizeBytes: content.length },
        join(base, name),
        {
          signal: new AbortController().signal,
          onProgress: (...told) => progress.push(told),
        },
      );
    };
    const content = Buffer.alloc(2_500_000, "one");
    await put("one.age", content);
    expect(readdirSync(join(storage, "shop"))).toEqual(["one.age"]);
    expect(readFileSync(join(storage, "shop/one.age")).equals(content)).toBe(true);
    expect(progress.at(-1)).toEqual([content.length, content.length]);
    await expect(put("two.age", content)).rejects.toMatchObject({ code: "disk_full" });
    expect(readdirSync(join(storage, "shop"))).toEqual(["one.age"]);
  } finally {
    rmSync(base, { recursive: true });
  }
});
