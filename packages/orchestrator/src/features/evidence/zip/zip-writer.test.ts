import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, expect, test } from "vitest";
import { TemporaryFile } from "./temporary-file.ts";
import { endOfDirectory, zip, type ZipFile } from "./zip-writer.ts";

const directory = mkdtempSync(join(tmpdir(), "attestore-zip-"));
const path = join(directory, "test.zip");
afterAll(() => {
  rmSync(directory, { recursive: true });
});

async function write(files: Iterable<ZipFile>): Promise<void> {
  async function* each() {
    yield* files;
  }
  await pipeline(zip(each(), new Date("2026-11-21T08:00:10Z")), createWriteStream(path));
}

test("unzip and Python read the archive", async () => {
  const long = Buffer.from("again and again\n".repeat(10_000));
  await write([
    { path: "empty", bytes: Buffer.alloc(0) },
    { path: "folder/short.txt", bytes: Buffer.from("short\n") },
    { path: "folder/long.txt", bytes: long },
  ]);
  expect(execFileSync("unzip", ["-tq", path], { encoding: "utf8" })).toContain("No errors");
  expect(execFileSync("unzip", ["-p", path, "folder/long.txt"])).toEqual(long);
  const listed = execFileSync("unzip", ["-Z", path], { encoding: "utf8" });
  expect(listed).toMatch(/^-rw-r--r--.*26-Nov-21 08:00 folder\/long\.txt$/m);
});

test("65,535 files and more need ZIP64, and get it", async () => {
  function* many() {
    for (let n = 0; n < 65_540; n += 1) yield { path: `files/${n}`, bytes: Buffer.from(String(n)) };
  }
  await write(many());
  const script = `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(len(z.namelist()), z.read("files/65539").decode())`;
  expect(execFileSync("python3", ["-c", script, path], { encoding: "utf8" })).toBe("65540 65539\n");
  expect(execFileSync("unzip", ["-p", path, "files/65539"], { encoding: "utf8" })).toBe("65539");
});

test("a directory past 4 GiB is written as ZIP64", () => {
  const plain = endOfDirectory({ count: 65_534, start: 0xffff_fffe, size: 100 });
  const far = endOfDirectory({ count: 2, start: 0xffff_ffff, size: 100 });
  expect([plain.length, far.length]).toEqual([22, 98]);
  expect(far.readBigUInt64LE(48)).toBe(0xffff_ffffn);
  expect(far.readBigUInt64LE(56 + 8)).toBe(0xffff_ffffn + 100n);
});

test("a file of another size than announced fails the whole archive", async () => {
  async function* chunks() {
    yield Buffer.from("three");
  }
  await expect(write([{ path: "a", size: 4, crc: 0, chunks: chunks() }])).rejects.toThrow(/size/);
});

test("a temporary file returns the written bytes, and leaves no file behind", async () => {
  const before = await readdir(tmpdir());
  const file = await TemporaryFile.create();
  const parts = Array.from({ length: 300 }, (_, n) => Buffer.alloc(3000, n));
  for (const part of parts) await file.append(part);
  expect((await readdir(tmpdir())).filter((name) => name.startsWith("attestore-pack-"))).toEqual(
    before.filter((name) => name.startsWith("attestore-pack-")),
  );
  const read: Buffer[] = [];
  for await (const chunk of file.read()) read.push(chunk);
  expect(Buffer.concat(read).equals(Buffer.concat(parts))).toBe(true);
  await file.close();
});
