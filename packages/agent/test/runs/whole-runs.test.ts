/** What holds for runs of any engine: shown with SQLite and files, which are quick. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, openSync, readdirSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { generateX25519Identity } from "age-encryption";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { Progress } from "../../src/runs/progress.ts";
import { restoreToFile } from "../../src/runs/restore-to-file.ts";
import {
  type RestoreTestResult,
  restoreAndCheck,
  type TestRestoreRequest,
} from "../../src/runs/restore-and-check.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

const never = new AbortController().signal;
const ROWS = 2_000;
let place: TestPlace;
let source: SourceConfig;
let made: MadeBackup;

beforeEach(async () => {
  place = await makeTestPlace();
  const path = join(place.dir, "shop.sqlite");
  const database = new DatabaseSync(path);
  database.exec(`create table items (id integer primary key, name text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS}) insert into items (name) select 'item ' || hex(randomblob(200)) from n`);
  database.close();
  source = { slug: "shop", engine: "sqlite", sandbox: "process", checkTimeout_s: 30, checks: [], path };
  made = await writeEncryptedDump({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    signal: never,
  });
});
afterEach(() => place.remove());

function testIt(more: Partial<TestRestoreRequest> = {}): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source,
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: made.sourceMetadata,
    signal: never,
    ...more,
  });
}

const onlyTheBlob = async (): Promise<void> =>
  expect(await place.leftovers()).toEqual([`${made.sha256}.age`]);

async function changed(change: (bytes: Buffer) => Buffer): Promise<{ path: string; sha256: string }> {
  const bytes = change(await readFile(made.path));
  const path = join(place.dir, "changed.age");
  await writeFile(path, bytes);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex") };
}

describe("a restore test", () => {
  test("passes, and says how long each phase took", async () => {
    const progress: Progress[] = [];
    const tested = await testIt({ onProgress: (each) => progress.push(each) });
    expect(tested).toMatchObject({ result: "passed", runtime: { kind: "process", engine: "sqlite" } });
    expect(tested).not.toHaveProperty("reason");
    for (const ms of Object.values(tested.phases)) expect(Number.isSafeInteger(ms)).toBe(true);
    const last = Object.fromEntries(progress.map(({ phase, bytes }) => [phase, bytes]));
    expect(last).toMatchObject({
      decrypt: made.sizeBytes,
      restore: (await stat((source as { path: string }).path)).size,
    });
    await onlyTheBlob();
  });

  test("a downloaded backup is tested in the same way", async () => {
    const bytes = await readFile(made.path);
    const tested = await testIt({
      ciphertext: {
        open: () => Promise.resolve(Readable.from([bytes.subarray(0, 999), bytes.subarray(999)])),
      },
    });
    expect(tested.result).toBe("passed");
    await onlyTheBlob();
  });

  test("fails for any byte that was changed on the way, before anything is restored", async () => {
    for (const at of [0, 30, 200, made.sizeBytes >> 1, made.sizeBytes - 1]) {
      const { path } = await changed((bytes) => {
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      });
      const tested = await testIt({ ciphertext: { path } });
      expect(tested).toMatchObject({ result: "failed", checks: [], phases: { restore_ms: 0 } });
      expect(tested.reason).toContain("SHA-256");
    }
    await onlyTheBlob();
  });

  test.each([
    ["cut", (bytes: Buffer) => bytes.subarray(0, -1)],
    [
      "cut at a chunk's border",
      (bytes: Buffer) =>
        bytes.subarray(0, bytes.length - ((bytes.length - bytes.indexOf("\n--- ") - 65) % 65_552)),
    ],
    ["longer", (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("x")])],
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => Buffer.from("not a backup\n".repeat(10_000))],
    ["changed", (bytes: Buffer) => bytes.fill(0, bytes.length - 5_000, bytes.length - 4_990)],
  ])("fails for a ciphertext that was registered %s", async (_, change) => {
    const { path, sha256 } = await changed(change);
    const tested = await testIt({ ciphertext: { path }, sha256 });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toMatch(/age/);
    await onlyTheBlob();
  });

  test("without the right identity could not run", async () => {
    await expect(testIt({ identities: [await generateX25519Identity()] })).rejects.toMatchObject({
      code: "identity_missing",
    });
    await onlyTheBlob();
  });

  test("of a backup from when its source was of another engine could not run", async () => {
    const { slug, sandbox, checkTimeout_s, checks } = source;
    const now: SourceConfig = { slug, sandbox, checkTimeout_s, checks, engine: "files", path: place.dir };
    await expect(testIt({ source: now })).rejects.toMatchObject({
      name: "RunError",
      code: "sandbox_lacks",
      message: expect.stringMatching(/sqlite.*shop.*files/s),
    });
    await onlyTheBlob();
  });

  test("of a ciphertext that cannot be read could not run", async () => {
    await expect(testIt({ ciphertext: { path: join(place.dir, "nowhere") } })).rejects.toMatchObject({
      code: "ciphertext_unavailable",
    });
    const broken = (): Promise<Readable> =>
      Promise.resolve(
        Readable.from(
          (async function* () {
            yield Buffer.from("age-encryption.org/v1\n");
            await Promise.resolve();
            throw new Error("socket hang up");
          })(),
        ),
      );
    await expect(testIt({ ciphertext: { open: broken } })).rejects.toMatchObject({
      code: "ciphertext_unavailable",
    });
    await expect(
      testIt({ ciphertext: { open: () => Promise.reject(new Error("404")) } }),
    ).rejects.toMatchObject({ code: "ciphertext_unavailable" });
    await onlyTheBlob();
  });

  test("leaves nothing when it is interrupted, at any time", async () => {
    for (const phase of ["decrypt", "restore", "checks"]) {
      const controller = new AbortController();
      const onProgress = (progress: Progress): void => {
        if (progress.phase === phase) controller.abort();
      };
      await expect(testIt({ signal: controller.signal, onProgress }), phase).rejects.toMatchObject({
        code: "interrupted",
      });
      await onlyTheBlob();
    }
    await expect(testIt({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "interrupted" });
  });
});

describe("restore to a file", () => {
  const output = (): string => join(place.dir, "restored.sqlite");
  const restore = (more: Partial<Parameters<typeof restoreToFile>[0]> = {}): Promise<unknown> =>
    restoreToFile({
      ciphertext: { path: made.path },
      sha256: made.sha256,
      identities: [place.identity],
      output: output(),
      signal: never,
      ...more,
    });
  const noOutput = (): void =>
    expect(readdirSync(place.dir).filter((name) => name.includes("restored"))).toEqual([]);

  test("writes the dump, which only we can read", async () => {
    await restore();
    expect((await stat(output())).mode & 0o777).toBe(0o600);
    const database = new DatabaseSync(output(), { readOnly: true });
    expect(database.prepare("select count(*) as n from items").get()).toEqual({ n: ROWS });
    database.close();
  });

  test("without a digest the file still has to authenticate itself", async () => {
    const { sha256: _, ...request } = {
      ciphertext: { path: made.path },
      sha256: "",
      identities: [place.identity],
      output: output(),
      signal: never,
    };
    await restoreToFile(request);
    expect(existsSync(output())).toBe(true);
  });

  test.each([
    ["cut", (bytes: Buffer) => bytes.subarray(0, -1)],
    ["longer", (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("x")])],
    ["changed at its very end", (bytes: Buffer) => bytes.fill(0, bytes.length - 1)],
  ])("gives nothing if the ciphertext is %s, and keeps what was there", async (_, change) => {
    const { path, sha256 } = await changed(change);
    for (const digest of [{ sha256 }, {}, { sha256: made.sha256 }]) {
      const request = {
        ciphertext: { path },
        identities: [place.identity],
        output: output(),
        signal: never,
        ...digest,
      };
      await expect(restoreToFile(request)).rejects.toMatchObject({ name: "DamagedCiphertext" });
      noOutput();
    }
    await writeFile(output(), "what was there");
    await expect(restore({ ciphertext: { path }, sha256 })).rejects.toMatchObject({
      name: "DamagedCiphertext",
    });
    expect(await readFile(output(), "utf8")).toBe("what was there");
  });

  test("writes nothing when it is interrupted or cannot write", async () => {
    const controller = new AbortController();
    await expect(
      restore({ signal: controller.signal, onProgress: () => controller.abort() }),
    ).rejects.toMatchObject({ code: "interrupted" });
    noOutput();
    await expect(restore({ output: join(place.dir, "no", "such", "place") })).rejects.toMatchObject({
      code: "output_unwritable",
    });
    await mkdir(output());
    await writeFile(join(output(), "kept"), "");
    await expect(restore()).rejects.toMatchObject({ code: "output_unwritable" });
    expect(readdirSync(place.dir).filter((name) => name.includes("restored"))).toEqual(["restored.sqlite"]);
  });
});

describe("a full disk", () => {
  /**
   * A run in a process whose files may not grow beyond a limit: what a full disk does, without
   * having to be root.
   */
  function limited(kib: number, call: string): string {
    const script = `
      import { writeEncryptedDump } from ${JSON.stringify(join(import.meta.dirname, "../../src/runs/write-encrypted-dump.ts"))};
      import { restoreAndCheck } from ${JSON.stringify(join(import.meta.dirname, "../../src/runs/restore-and-check.ts"))};
      import { restoreToFile } from ${JSON.stringify(join(import.meta.dirname, "../../src/runs/restore-to-file.ts"))};
      const { source, made, place } = JSON.parse(process.argv[1]);
      const signal = new AbortController().signal;
      await (${call}).then(() => console.log("it ended well"), (error) => console.log(error.code, error.message));`;
    const given = JSON.stringify({ source, made, place });
    const run = spawnSync(
      "bash",
      [
        "-c",
        `ulimit -f ${kib}; exec "$0" --no-warnings --input-type=module -e "$1" "$2"`,
        process.execPath,
        script,
        given,
      ],
      {
        encoding: "utf8",
        env: { ...process.env, NODE_NO_WARNINGS: "1" },
      },
    );
    expect(run.stderr).toBe("");
    return run.stdout;
  }

  test("during a backup, where the ciphertext is written: no blob and no plaintext stay", async () => {
    // SQLite would need room for its copy before.
    const path = join(place.dir, "tree");
    await mkdir(path);
    await writeFile(
      join(path, "random"),
      Buffer.concat(
        Array.from({ length: 400 }, (_, index) => createHash("sha512").update(String(index)).digest()),
      ),
    );
    source = { slug: "tree", engine: "files", sandbox: "process", checkTimeout_s: 30, checks: [], path };
    const call =
      "writeEncryptedDump({ source, recipients: [place.recipient], blobsDir: place.blobs, signal })";
    expect(limited(8, call)).toMatch(/^disk_full no space left/);
    await onlyTheBlob();
  });

  test("during a restore test gives no result", async () => {
    const call =
      "restoreAndCheck({ source, ciphertext: { path: made.path }, sha256: made.sha256, identities: [place.identity], scratchDir: place.scratch, backupMetadata: made.sourceMetadata, signal })";
    expect(limited(64, call)).toMatch(/^disk_full/);
    await onlyTheBlob();
  });

  test("during a restore to a file", async () => {
    const call =
      "restoreToFile({ ciphertext: { path: made.path }, sha256: made.sha256, identities: [place.identity], output: place.dir + '/restored', signal })";
    expect(limited(64, call)).toMatch(/^disk_full/);
    expect(readdirSync(place.dir).filter((name) => name.includes("restored"))).toEqual([]);
  });
});

test("kill -9 in the middle of a backup: the next one removes its leftovers", async () => {
  const tree = join(place.dir, "tree");
  await mkdir(tree);
  execFileSync("head", ["-c", "300000000", "/dev/urandom"], {
    stdio: ["ignore", openSync(join(tree, "random"), "w"), "inherit"],
  });
  const files: SourceConfig = {
    slug: "tree",
    engine: "files",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: tree,
  };
  const script = `
    import { writeEncryptedDump } from ${JSON.stringify(join(import.meta.dirname, "../../src/runs/write-encrypted-dump.ts"))};
    const { source, place } = JSON.parse(process.argv[1]);
    await writeEncryptedDump({ source, recipients: [place.recipient], blobsDir: place.blobs, signal: new AbortController().signal });`;
  const backing = spawn(process.execPath, [
    "--no-warnings",
    "--input-type=module",
    "-e",
    script,
    JSON.stringify({ source: files, place }),
  ]);
  const partials = (): string[] => readdirSync(place.blobs).filter((name) => name.startsWith(".partial-"));
  await expect.poll(partials, { timeout: 30_000, interval: 5 }).toHaveLength(1);
  backing.kill("SIGKILL");
  await once(backing, "close");
  expect(readdirSync(place.blobs).filter((name) => name.endsWith(".age"))).toEqual([`${made.sha256}.age`]);
  expect(partials()).toHaveLength(1);
  await writeEncryptedDump({ source, recipients: [place.recipient], blobsDir: place.blobs, signal: never });
  expect(partials()).toEqual([]);
});
