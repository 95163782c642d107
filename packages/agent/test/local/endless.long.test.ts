import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSourceConfig, type SourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { restoreToFile } from "../../src/runs/restore-to-file.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { directoryStore } from "../../src/backends/standalone/directory-store.ts";
import { makeTestPlace, type TestPlace } from "../runs/scratch.ts";

const never = new AbortController().signal;
let place: TestPlace;
/**
 * What another user of the host writes to: a tree that is backed up, a directory of dumps, a store.
 */
let theirs: string;

beforeEach(async () => {
  place = await makeTestPlace();
  theirs = join(place.dir, "theirs");
  mkdirSync(theirs);
});
afterEach(() => void execFileSync("rm", ["-rf", place.dir]));

const source = (fields: Record<string, unknown>): SourceConfig =>
  parseSourceConfig("theirs", { path: theirs, ...fields }, place.dir);
const back = (of: SourceConfig, signal = never): Promise<MadeBackup> =>
  writeEncryptedDump({ source: of, recipients: [place.recipient], blobsDir: place.blobs, signal });
const testIt = (of: SourceConfig, made: MadeBackup, metadata = made.sourceMetadata, signal = never) =>
  restoreAndCheck({
    source: of,
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify(metadata)) as Record<string, unknown>,
    signal,
  });
const reasonOf = ({ result, reason }: RestoreTestResult): string => `${result}: ${reason}`;

describe("a tree that its owner made too large", () => {
  const FILES = { engine: "files" };
  const deep = (parts: number, part: string): void =>
    void execFileSync(
      "python3",
      [
        "-c",
        `import os\nfor _ in range(${parts}):\n os.mkdir("${part}"); os.chdir("${part}")\nopen("f", "w").write("x")`,
      ],
      { cwd: theirs },
    );

  it("with a path of 4,030 bytes is backed up, restored and removed", async () => {
    deep(16, "d".repeat(250));
    const made = await back(source(FILES));
    const tested = await testIt(source(FILES), made);
    expect(tested.result, tested.reason).toBe("passed");
    expect(readdirSync(place.scratch)).toEqual([]);
  });

  it("with a path that no program restores is backed up, and its test fails and says why", async () => {
    deep(100, "d".repeat(250));
    const made = await back(source(FILES));
    expect(made.sourceMetadata).toMatchObject({ files: 1, directories: 101 });
    expect(reasonOf(await testIt(source(FILES), made))).toMatch(
      /^failed: tar ended with .*File name too long/,
    );
    expect(readdirSync(place.scratch)).toEqual([]);
  });

  it("with a hole of 6 TB stops within a second of a signal, and by its time", async () => {
    writeFileSync(join(theirs, "hole"), "");
    truncateSync(join(theirs, "hole"), 6e12);
    const stop = new AbortController();
    const running = back(source(FILES), stop.signal).catch((error: unknown) => error);
    await expect.poll(() => existsSync(place.blobs) && readdirSync(place.blobs).length).toBe(1);
    const at = performance.now();
    stop.abort();
    expect(await running).toMatchObject({ code: "interrupted" });
    expect(performance.now() - at).toBeLessThan(2_000);
    await expect(back(source({ ...FILES, limits: { time_s: 1 } }))).rejects.toMatchObject({
      code: "limit_exceeded",
      message: expect.stringContaining("limits.time_s") as string,
    });
    expect(await place.leftovers()).toEqual([]);
  });

  it("with more bytes than allowed, holes included, is no backup, and the file is named", async () => {
    writeFileSync(join(theirs, "hole"), "");
    truncateSync(join(theirs, "hole"), 15e12);
    await expect(back(source(FILES))).rejects.toMatchObject({
      code: "limit_exceeded",
      message: expect.stringMatching(/"hole".*limits\.logical_bytes/) as string,
    });
  });
});

describe("a dump that decompresses to more than its receipt says", () => {
  it("is a failed test, and is written no further", async () => {
    writeFileSync(join(theirs, "file"), Buffer.alloc(8 << 20));
    const of = source({ engine: "files" });
    const made = await back(of);
    const signed = made.sourceMetadata["plaintext_size_bytes"];
    expect(signed).toBeGreaterThan(8 << 20);
    for (const [size, reason] of [
      [1 << 20, "more than the 1048576 bytes that its receipt says"],
      [Number(signed) + 1, "its receipt says"],
    ] as const) {
      const tested = await testIt(of, made, { ...made.sourceMetadata, plaintext_size_bytes: size });
      expect(reasonOf(tested)).toMatch(new RegExp(`^failed: .*${reason}`));
    }
    expect((await testIt(of, made)).result).toBe("passed");
    // Of a backup from before receipts said it, the source's own limit holds.
    const { plaintext_size_bytes: _, ...before } = made.sourceMetadata;
    const small = source({ engine: "files", limits: { bytes: "1MiB" } });
    expect(reasonOf(await testIt(small, made, before as MadeBackup["sourceMetadata"]))).toMatch(
      /limits\.bytes/,
    );
  });

  it("that others made is not registered, or must stay as it was seen then", async () => {
    const path = join(theirs, "a.tar.gz");
    execFileSync("sh", ["-c", `truncate -s 64M zeros && tar -czf ${path} zeros && rm zeros`], {
      cwd: theirs,
    });
    expect(statSync(path).size).toBeLessThan(1 << 20);
    const of = (limits: object) => source({ engine: "dumps", min_age_s: 0, limits });
    await expect(back(of({ bytes: "10MB" }))).rejects.toMatchObject({ code: "limit_exceeded" });
    const made = await back(of({}));
    expect(made.sourceMetadata["original"]).toMatchObject({
      plaintext_size_bytes: Number(
        execFileSync("sh", ["-c", `gzip -dc ${path} | wc -c`], { encoding: "utf8" }),
      ),
    });
    const original = { ...(made.sourceMetadata["original"] as object), plaintext_size_bytes: 1000 };
    expect(reasonOf(await testIt(of({}), made, { ...made.sourceMetadata, original }))).toMatch(
      /^failed: the dump decompresses to more than its limit of 1000 bytes/,
    );
    expect(readdirSync(place.scratch)).toEqual([]);
  });
});

it("a dump that sleeps for ever is a failed test when its time is up, and leaves no server", async () => {
  const dump = `--
-- PostgreSQL database dump
--

-- Dumped from database version 15.1

CREATE FUNCTION public.wait(n integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select pg_sleep(100000)::text is not null';
CREATE TABLE public.t (n integer CHECK (public.wait(n)));
COPY public.t (n) FROM stdin;
1
\\.
`;
  writeFileSync(join(theirs, "a.sql"), dump);
  const of = source({ engine: "dumps", min_age_s: 0, limits: { time_s: 8 } });
  const made = await back(of);
  const at = performance.now();
  expect(reasonOf(await testIt(of, made))).toBe(
    "failed: the restore and its checks did not end within 8 s: if they need longer, raise the source's limits.time_s in config.yaml",
  );
  expect(performance.now() - at).toBeLessThan(30_000);
  expect(readdirSync(place.scratch)).toEqual([]);
});

describe("something else where a file should be", () => {
  const TESTED = { timeout: 60_000 };

  it("a pipe in the store is refused without being opened", TESTED, async () => {
    execFileSync("mkfifo", [join(theirs, "one.age")]);
    const get = directoryStore(theirs).get(
      { key: "one.age", sha256: "", sizeBytes: 3 },
      join(place.dir, "copy"),
      {
        signal: never,
      },
    );
    await expect(get).rejects.toMatchObject({
      code: "ciphertext_unavailable",
      message: expect.stringContaining("not a regular file") as string,
    });
  });

  it("a store's file that grew is not copied whole", async () => {
    writeFileSync(join(theirs, "one.age"), Buffer.alloc(5 << 20));
    const copy = join(place.dir, "copy");
    await directoryStore(theirs).get({ key: "one.age", sha256: "", sizeBytes: 3 }, copy, { signal: never });
    expect(statSync(copy).size).toBe(4);
  });

  it("a link for a source's directory in the store is refused", async () => {
    const [victim, blob] = [join(place.dir, "victim"), join(place.dir, "blob")];
    mkdirSync(victim);
    writeFileSync(blob, "abc");
    execFileSync("ln", ["-s", victim, join(theirs, "orders")]);
    const store = directoryStore(theirs);
    const object = { key: "orders/bkp.age", sha256: "", sizeBytes: 3 };
    await expect(store.put(object, blob, { signal: never })).rejects.toMatchObject({
      code: "output_unwritable",
    });
    expect(readdirSync(victim)).toEqual([]);
    writeFileSync(join(victim, "bkp.age"), "abc");
    await expect(store.remove(object, never)).rejects.toMatchObject({ code: "output_unwritable" });
    expect(readdirSync(victim)).toEqual(["bkp.age"]);
  });

  it(
    "a dump that became a pipe since its registration could not run, and does not block",
    TESTED,
    async () => {
      const dump = gzipSync(execFileSync("tar", ["-cf", "-", "-C", "/etc", "hostname"]));
      writeFileSync(join(theirs, "a.tar.gz"), dump);
      const of = source({ engine: "dumps", min_age_s: 0 });
      const made = await back(of);
      execFileSync("sh", ["-c", "rm a.tar.gz; mkfifo a.tar.gz"], { cwd: theirs });
      await expect(testIt(of, made)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
    },
  );

  it.each([
    ["ln -s", "-shm"],
    ["ln", "-shm"],
    ["ln", "-wal"],
    ["ln", "-journal"],
  ])("what %s put at a SQLite database's %s is not written to", async (link, suffix) => {
    const path = join(theirs, "app.db");
    const database = new DatabaseSync(path);
    database.exec("pragma journal_mode = wal; create table t (n); insert into t values (1)");
    database.close();
    const victim = join(place.dir, "victim");
    writeFileSync(victim, "precious".repeat(10_000));
    execFileSync("sh", ["-c", `${link} ${victim} ${path}${suffix}`]);
    await expect(back(source({ engine: "sqlite", path }))).rejects.toMatchObject({ code: "dump_failed" });
    expect(readFileSync(victim, "utf8")).toBe("precious".repeat(10_000));
  });

  it("a link in place of a restore's target is neither followed nor replaced", async () => {
    writeFileSync(join(theirs, "file"), "content");
    const made = await back(source({ engine: "files" }));
    const output = join(place.dir, "restored.tar");
    execFileSync("ln", ["-s", join(place.dir, "elsewhere"), output]);
    const { path, sha256 } = made;
    const restoring = restoreToFile({
      ciphertext: { path },
      sha256,
      identities: [place.identity],
      output,
      signal: never,
    });
    await expect(restoring).rejects.toMatchObject({ code: "output_unwritable" });
    expect(readlinkSync(output)).toBe(join(place.dir, "elsewhere"));
    expect(readdirSync(place.dir).toSorted()).toEqual(["blobs", "restored.tar", "theirs"]);
  });
});
