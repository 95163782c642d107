import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownProcessTag } from "../processes/process-tag.ts";
import { writeBlob } from "./blob.ts";

const never = new AbortController().signal;
let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "attestore-blob-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const each of texts) yield Buffer.from(each);
}

test("a blob has the name of its digest, and only we can read it", async () => {
  const blobs = join(dir, "new", "blobs");
  const blob = await writeBlob(pieces("one ", "two"), blobs, never);
  const sha256 = createHash("sha256").update("one two").digest("hex");
  expect(blob).toEqual({ path: join(blobs, `${sha256}.age`), sha256, sizeBytes: 7 });
  expect((await readFile(blob.path)).toString()).toBe("one two");
  expect((await stat(blob.path)).mode & 0o777).toBe(0o600);
  expect((await stat(blobs)).mode & 0o777).toBe(0o700);
});

test("the same ciphertext written twice, even at once, is one file", async () => {
  const blobs = await Promise.all([
    writeBlob(pieces("same"), dir, never),
    writeBlob(pieces("same"), dir, never),
  ]);
  expect(blobs[0]).toEqual(blobs[1]);
  expect(await readdir(dir)).toHaveLength(1);
});

test("a source that fails leaves nothing", async () => {
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.from("partial");
    await Promise.resolve();
    throw new Error("the dump failed");
  }
  await expect(writeBlob(failing(), dir, never)).rejects.toThrow("the dump failed");
  expect(await readdir(dir)).toEqual([]);
});

test("an abort leaves nothing", async () => {
  const controller = new AbortController();
  async function* endless(): AsyncGenerator<Buffer> {
    for (let count = 0; ; count++) {
      if (count === 3) controller.abort();
      yield Buffer.alloc(1000);
    }
  }
  await expect(writeBlob(endless(), dir, controller.signal)).rejects.toThrow("abort");
  expect(await readdir(dir)).toEqual([]);
});

test("partials of processes that are gone are removed, and no other file", async () => {
  const [pid, start, ...rest] = ownProcessTag().split("-");
  const gone = `.partial-${[pid, Number(start) + 1, ...rest].join("-")}.0123456789ab`;
  const alive = `.partial-${ownProcessTag()}.0123456789ab`;
  for (const name of [gone, alive, ".partial-unknown", "other.age"]) await writeFile(join(dir, name), "x");
  await writeBlob(pieces("one"), dir, never);
  const names = await readdir(dir);
  expect(names).not.toContain(gone);
  expect(names).toEqual(expect.arrayContaining([alive, ".partial-unknown", "other.age"]));
});

test("a full disk is an error, and leaves nothing", async () => {
  // A limit on the size of files does what a full disk does, and needs no root: EFBIG instead of
  // ENOSPC.
  const blobs = join(dir, "blobs");
  await mkdir(blobs);
  const script = `
    import { writeBlob } from ${JSON.stringify(join(import.meta.dirname, "blob.ts"))};
    async function* much() { for (let i = 0; i < 100; i++) yield Buffer.alloc(100_000); }
    await writeBlob(much(), ${JSON.stringify(blobs)}, new AbortController().signal).catch((error) => { console.log(error.code); });`;
  const run = spawnSync(
    "bash",
    [
      "-c",
      'ulimit -f 1000; exec "$0" --no-warnings --input-type=module-typescript -e "$1"',
      process.execPath,
      script,
    ],
    {
      encoding: "utf8",
    },
  );
  expect(run.stdout, run.stderr).toBe("EFBIG\n");
  expect(await readdir(blobs)).toEqual([]);
});
