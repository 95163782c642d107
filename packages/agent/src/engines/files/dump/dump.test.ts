import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RunError } from "../../../errors/run-error.ts";
import { makeScratchDirectory } from "../../../sandboxes/process/scratch-directory.ts";
import {
  ALL_PASSED,
  dumpTree,
  type DumpOptions,
  inferred,
  makePlace,
  restoreTree,
} from "../../../../test/files/round-trip.ts";
import { failureOnSysfs, PROCFS, SYSFS } from "../../../../test/files/hold-sysfs.ts";
import { startMappedWriter } from "../../../../test/files/mapped-writer.ts";
import { SourceHoles } from "./source-holes.ts";
import { treeManifest } from "../tree/tree-manifest.ts";

const LARGE = Buffer.alloc(8 << 20, "large");

let place: ReturnType<typeof makePlace>;
let source: string;

beforeEach(() => {
  place = makePlace();
  source = join(place.path, "source");
  mkdirSync(source);
  chmodSync(place.path, 0o755);
});
afterEach(() => {
  place.remove();
});

async function failureOf(path: string, options?: DumpOptions): Promise<RunError> {
  const error = await dumpTree(path, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunError);
  return error as RunError;
}

/** Does something once, after tar's first output and long before its last. */
function once(work: () => void): DumpOptions {
  let done = false;
  return {
    onPiece: () => {
      if (!done) work();
      done = true;
    },
  };
}

/**
 * Runs as `nobody`, because root may read everything. The threads that read files and the children
 * that we start have the same user.
 */
async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.("nobody");
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

it("a source of files has to be a directory", async () => {
  writeFileSync(join(source, "file"), "");
  expect(await failureOf(join(source, "nowhere"))).toMatchObject({ code: "source_missing" });
  expect(await failureOf(join(source, "file"))).toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("not a directory"),
  });
});

const userWhoReads = (): string => (process.geteuid?.() === 0 ? "nobody" : userInfo().username);

it("a backup of files fails if files cannot be read, and says how many, which is first, and what to do", async () => {
  writeFileSync(join(source, "a"), "");
  writeFileSync(join(source, "a\n"), "", { mode: 0 });
  mkdirSync(join(source, "b"));
  writeFileSync(join(source, "b", "secret"), "", { mode: 0 });
  const error = await asNobody(() => failureOf(source));
  const user = userWhoReads();
  expect(error.code).toBe("dump_failed");
  expect(error.message).toBe(
    `the agent's user ${user} cannot read 2 files and directories of ${source}, first ${source}/a\\u000a: ` +
      `let it read everything there, for example with setfacl -R -m u:${user}:rX (docs/files.md)`,
  );
});

it.each([
  ["listed", 0o100],
  ["entered", 0o400],
  ["either", 0],
])("a backup of files fails if a directory cannot be %s, and names it", async (_what, mode) => {
  mkdirSync(join(source, "closed", "inner"), { recursive: true });
  chmodSync(join(source, "closed"), mode);
  const error = await asNobody(() => failureOf(source));
  expect(error.code).toBe("dump_failed");
  expect(error.message).toContain(
    `cannot read at least 1 file or directory of ${source}, first ${source}/closed: let it`,
  );
});

it("a backup of files fails if the source's directory itself cannot be read", async () => {
  chmodSync(source, 0);
  const error = await asNobody(() => failureOf(source));
  expect(error.code).toBe("dump_failed");
  expect(error.message).toContain(`of ${source}, first ${source}: let it read everything`);
});

it("a backup of files fails if a file grows while it is read, and names it", async () => {
  writeFileSync(join(source, "log"), LARGE);
  const error = await failureOf(
    source,
    once(() => appendFileSync(join(source, "log"), "more")),
  );
  expect(error.code).toBe("source_changed");
  expect(error.message).toContain("./log: file changed as we read it");
});

it("a backup of files fails if a file shrinks while it is read", async () => {
  writeFileSync(join(source, "log"), LARGE);
  const error = await failureOf(
    source,
    once(() => writeFileSync(join(source, "log"), "")),
  );
  expect(error.code).toBe("source_changed");
  expect(error.message).toContain("./log: ");
});

it("a backup of files fails if a program writes through memory to a file while it is read, which changes no time", async () => {
  const file = join(source, "mapped");
  writeFileSync(file, LARGE);
  const program = await startMappedWriter(file, join(place.path, "done"));
  try {
    const error = await failureOf(source, once(program.write));
    expect(error.code).toBe("source_changed");
    expect(error.message).toContain(
      `${file} changed while it was read, although its time did not: a program`,
    );
    // At rest, it is backed up with what was written.
    const { archive, metadata } = await dumpTree(source);
    await restoreTree(archive, join(place.path, "scratch"), async (restored, tree) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
      expect(readFileSync(join(tree, "mapped")).toString("latin1", 0, 5)).toBe("other");
    });
  } finally {
    program.stop();
  }
});

it("a backup of files fails if a file is removed before it is read", async () => {
  writeFileSync(join(source, "a"), LARGE);
  mkdirSync(join(source, "b"));
  writeFileSync(join(source, "b", "gone"), "");
  const error = await failureOf(
    source,
    once(() => rmSync(join(source, "b", "gone"))),
  );
  expect(error.code).toBe("source_changed");
});

it("a backup of files fails if a file moves from a directory that tar has yet to read to one it has read, which tar does not report", async () => {
  for (const name of ["a", "b", "c"]) mkdirSync(join(source, name));
  writeFileSync(join(source, "b", "large"), LARGE);
  writeFileSync(join(source, "c", "file"), "in neither, else");
  const error = await failureOf(
    source,
    once(() => renameSync(join(source, "c", "file"), join(source, "a", "file"))),
  );
  expect(error).toMatchObject({ code: "source_changed", message: expect.stringContaining("may be missing") });
});

it("a file that is written to while it is not being read is backed up", async () => {
  mkdirSync(join(source, "a"));
  writeFileSync(join(source, "a", "before"), "as it was");
  writeFileSync(join(source, "b"), LARGE);
  const { archive, metadata } = await dumpTree(
    source,
    once(() => appendFileSync(join(source, "a", "before"), ", and more")),
  );
  await restoreTree(archive, join(place.path, "scratch"), async (restored, tree) => {
    expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
    expect(readdirSync(join(tree, "a"))).toEqual(["before"]);
  });
});

it("no backup of files is made where a file system calls a hole what has content", async () => {
  expect(await failureOnSysfs(() => dumpTree(SYSFS))).toMatchObject({
    code: "dump_failed",
    message: expect.stringMatching(
      /^tar would not store content of [/a-z_]+: its file system says that there is a hole/,
    ) as string,
  });
});

it("no backup of files is made where a file system says that a file with content is empty", async () => {
  expect(await failureOnSysfs(() => dumpTree(PROCFS), PROCFS)).toMatchObject({
    code: "dump_failed",
    message: expect.stringMatching(
      /^tar would not store content of [/a-z_]+: its file system says that it is empty/,
    ) as string,
  });
});

it("what is written into a hole after tar read it does no harm, and zeros do none", async () => {
  const path = join(source, "file");
  writeFileSync(path, Buffer.concat([Buffer.alloc(4096), Buffer.from("x")]));
  const { mtimeNs: modified } = statSync(path, { bigint: true });
  const { signal } = new AbortController();
  const holes = new SourceHoles(source, signal);
  const hole = { path: "file", modified, offset: 0, bytes: 4096 };
  await holes.check(hole);
  await holes.check({ ...hole, bytes: 8192 });
  await holes.check({ ...hole, path: "gone" });
  await holes.close();
  const mounted = new SourceHoles(SYSFS, signal);
  await mounted.check({ ...hole, path: "panic", modified: 1n });
  await mounted.close();
});

it("a hole that cannot be looked at makes no backup, and is named", async () => {
  writeFileSync(join(source, "file"), "", { mode: 0 });
  const hole = { path: "file", modified: 0n, offset: 0, bytes: 1 };
  const { signal } = new AbortController();
  await asNobody(async () => {
    const holes = new SourceHoles(source, signal);
    await expect(holes.check(hole)).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining(`${source}/file cannot be read (EACCES): let the agent's user`),
    });
    await holes.close();
  });
});

it("sockets, which have no content, are left out of a backup", async () => {
  writeFileSync(join(source, "file"), "");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(source, "socket"), resolve));
  try {
    const { archive, metadata } = await dumpTree(source);
    expect(metadata["files"]).toBe(1);
    await restoreTree(archive, join(place.path, "scratch"), async (restored) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

it("a backup of files stops when it is aborted", async () => {
  writeFileSync(join(source, "large"), LARGE);
  const stop = new AbortController();
  const error = await failureOf(source, { signal: stop.signal, ...once(() => stop.abort()) });
  expect(error.code).toBe("interrupted");
});

it("an ordinary user can read and remove restored files whose modes forbid it", async () => {
  const scratch = mkdtempSync(join(place.path, "scratch-"));
  const secret = Buffer.concat([Buffer.from(`${source}/closed/`), Buffer.from([0xe9])]);
  mkdirSync(secret, { recursive: true });
  writeFileSync(Buffer.concat([secret, Buffer.from("/file")]), "content", { mode: 0 });
  chmodSync(secret, 0);
  chmodSync(join(source, "closed"), 0o100);
  const { archive, metadata } = await dumpTree(source);
  const { signal } = new AbortController();
  const expected = metadata["manifest_sha256"];
  chownSync(scratch, 65_534, 65_534);
  const left = await asNobody(async () => {
    const directory = await makeScratchDirectory(scratch, null);
    const tree = join(directory.path, "tree");
    mkdirSync(tree);
    const options = { cwd: tree, input: archive };
    execFileSync("tar", ["-xpf", "-", "--delay-directory-restore", "--no-same-owner"], options);
    expect((await treeManifest(tree, signal)).sha256).toBe(expected);
    chmodSync(join(tree, "closed"), 0);
    await directory.remove();
    return existsSync(directory.path);
  });
  expect(left).toBe(false);
});
