import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ALL_PASSED, dumpTree, inferred, makePlace, restoreTree } from "../../../../test/files/round-trip.ts";
import { countNames } from "./count-names.ts";
import { unreadableFiles } from "./unreadable-files.ts";

let place: ReturnType<typeof makePlace>;
let source: string;

beforeEach(() => {
  place = makePlace();
  source = join(place.path, "source");
  mkdirSync(source);
});
afterEach(() => place.remove());

function fill(): void {
  const inner = Buffer.concat([Buffer.from(`${source}/inner/`), Buffer.from([0xe9])]);
  mkdirSync(inner, { recursive: true });
  writeFileSync(Buffer.concat([inner, Buffer.from("/file")]), "content");
  writeFileSync(join(source, "letter"), "content");
  execFileSync("mkfifo", [join(source, "pipe")]);
}

/** A small file system whose directories have names alone. Only root can mount it. */
it("directories that do not say of a name what it is are backed up", async () => {
  const image = join(place.path, "image");
  writeFileSync(image, Buffer.alloc(1 << 20));
  execFileSync("/sbin/mkfs.ext2", ["-q", "-O", "^filetype", image]);
  execFileSync("mount", ["-o", "loop", image, source]);
  try {
    fill();
    const { archive, metadata } = await dumpTree(source);
    expect(metadata).toMatchObject({ files: 3, directories: 4 });
    expect(await unreadableFiles(source, new AbortController().signal)).toBeNull();
    await restoreTree(archive, join(place.path, "scratch"), async (restored) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
    });
  } finally {
    execFileSync("umount", [source]);
  }
});

it.each(["letter", "pipe", "inner"])("a tar that leaves out a name without a word: %s", async (name) => {
  fill();
  const programs = join(place.path, "programs");
  mkdirSync(programs);
  const { PATH } = process.env;
  const script = `#!/bin/sh\nPATH=${PATH}\nexec tar --exclude=./${name} "$@"\n`;
  writeFileSync(join(programs, "tar"), script, { mode: 0o755 });
  process.env["PATH"] = `${programs}:${PATH}`;
  const failure = await dumpTree(source)
    .catch((error: unknown) => error)
    .finally(() => (process.env["PATH"] = PATH));
  expect(failure).toMatchObject({
    code: "dump_failed",
    message: expect.stringMatching(/^tar archived [35] of the 6 names in .* and said nothing/) as string,
  });
});

it("names are counted while a program makes and removes pipes", async () => {
  const making = `while :; do mkfifo ${"a b c d e f g h".replaceAll(/\w/g, `${source}/$&`)}; rm -f ${source}/?; done`;
  const program = spawn("sh", ["-c", making], { stdio: "ignore" });
  try {
    let seen = 0;
    for (let round = 0; seen < 50 && round < 20_000; round += 1)
      seen += (await countNames(source, new AbortController().signal)).files;
    expect(seen).toBeGreaterThanOrEqual(50);
  } finally {
    program.kill("SIGKILL");
    await once(program, "close");
  }
});
