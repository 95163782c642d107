import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createFile,
  makeDirectory,
  replaceFile,
  sweepTemporaryFiles,
  temporaryName,
} from "./durable-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "durable-"));
});
afterEach(() => rm(directory, { recursive: true }));

test("replaceFile writes the content with the mode asked for and leaves nothing else", async () => {
  const path = join(directory, "key");
  await replaceFile(path, "one");
  await replaceFile(path, "two", { mode: 0o640 });
  expect(await readFile(path, "utf8")).toBe("two");
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(await readdir(directory)).toEqual(["key"]);
});

test("a replaceFile that cannot rename removes its temporary file and keeps the old content", async () => {
  const path = join(directory, "taken");
  await makeDirectory(join(path, "child"));
  await expect(replaceFile(path, "x")).rejects.toMatchObject({ code: "EISDIR" });
  expect(await readdir(directory)).toEqual(["taken"]);
});

test("of many concurrent createFile calls exactly one wins, and the others see its content", async () => {
  const path = join(directory, "once");
  const results = await Promise.all(
    Array.from({ length: 16 }, (_, index) => createFile(path, `writer ${index}`)),
  );
  expect(results.filter(Boolean)).toHaveLength(1);
  expect(await readFile(path, "utf8")).toBe(`writer ${results.indexOf(true)}`);
  expect(await readdir(directory)).toEqual(["once"]);
});

test("makeDirectory makes every level with the mode and leaves existing ones alone", async () => {
  await makeDirectory(join(directory, "a", "b"), 0o711);
  expect((await stat(join(directory, "a"))).mode & 0o777).toBe(0o711);
  expect((await stat(join(directory, "a", "b"))).mode & 0o777).toBe(0o711);
  await makeDirectory(join(directory, "a", "b"), 0o700);
  expect((await stat(join(directory, "a", "b"))).mode & 0o777).toBe(0o711);
});

test("makeDirectory copes with concurrent calls, a file in the way and a parent that refuses directories", async () => {
  await Promise.all(Array.from({ length: 8 }, () => makeDirectory(join(directory, "a", "b", "c"))));
  await writeFile(join(directory, "file"), "");
  await expect(makeDirectory(join(directory, "file"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeDirectory(join(directory, "file", "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeDirectory("/proc/none/below")).rejects.toMatchObject({ code: "ENOENT" });
});

test("sweepTemporaryFiles removes leftovers of both writers and nothing else", async () => {
  await writeFile(temporaryName(join(directory, "key")), "half");
  await writeFile(join(directory, "key"), "whole");
  await writeFile(join(directory, ".hidden"), "somebody's");
  expect(await sweepTemporaryFiles(directory)).toBe(1);
  expect((await readdir(directory)).sort()).toEqual([".hidden", "key"]);
});
