import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { RunError } from "../../src/errors/run-error.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import {
  type RestoreTestResult,
  restoreAndCheck,
  type TestRestoreRequest,
} from "../../src/runs/restore-and-check.ts";
import { backUp } from "./back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "./scratch.ts";

/** A store, a proxy or memory that changes a bit once is not the backup's fault. */

let place: TestPlace;
let source: SourceConfigOf<"sqlite">;
let made: MadeBackup;
let stored: Buffer;

beforeAll(async () => {
  place = await makeTestPlace();
  const path = join(place.dir, "shop.sqlite");
  source = { slug: "shop", engine: "sqlite", sandbox: "process", checkTimeout_s: 30, checks: [], path };
  const database = new DatabaseSync(path);
  database.exec(`create table items (id integer primary key, name text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000) insert into items select i, 'item ' || i from n`);
  database.close();
  made = await backUp(place, source);
  stored = await readFile(made.path);
});
afterAll(() => place.remove());

const flipped = (bytes: Buffer): Buffer => {
  const other = Buffer.from(bytes);
  other[other.length >> 1]! ^= 4;
  return other;
};

const testIt = (request: Partial<TestRestoreRequest>): Promise<RestoreTestResult> =>
  restoreAndCheck({
    source,
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify(made.sourceMetadata)) as Record<string, unknown>,
    signal: new AbortController().signal,
    ...request,
  });

/** What a store gives back each time that it is asked; the last again and again. */
function store(...answers: readonly Buffer[]) {
  let readings = 0;
  const open = (): Promise<Readable> => {
    const answer = answers[Math.min(readings++, answers.length - 1)] ?? stored;
    return Promise.resolve(Readable.from([answer]));
  };
  return { open, readings: () => readings };
}

const readingOf = ({ checks }: RestoreTestResult) => checks.find(({ id }) => id === "inferred:reading");

test("a stored backup that comes back right is read once", async () => {
  const ciphertext = store(stored);
  const tested = await testIt({ ciphertext });
  expect(tested.result).toBe("passed");
  expect(ciphertext.readings()).toBe(1);
  expect(readingOf(tested)).toBeUndefined();
});

test.each([
  ["a bit of it flipped", () => flipped(stored)],
  ["its end cut off", () => stored.subarray(0, stored.length - 1000)],
  ["nothing of it", () => Buffer.alloc(0)],
])("one that comes back with %s once is read again, passes, and the receipt says so", async (_, first) => {
  const ciphertext = store(first(), stored);
  const tested = await testIt({ ciphertext });
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(ciphertext.readings()).toBe(2);
  expect(readingOf(tested)).toMatchObject({
    result: "passed",
    expectation: `sha256 = '${made.sha256}'`,
    observed: {
      readings: 2,
      sha256: made.sha256,
      first_reading: expect.stringContaining(createHash("sha256").update(first()).digest("hex")) as string,
    },
  });
});

test("one that is damaged both times fails, after two readings", async () => {
  const always = store(flipped(stored));
  const tested = await testIt({ ciphertext: always });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
  expect(tested.reason).toMatch(/^the ciphertext's SHA-256 is .* twice, and was damaged both times$/);
  expect(always.readings()).toBe(2);
  const otherwise = store(stored.subarray(1), flipped(stored));
  expect((await testIt({ ciphertext: otherwise })).reason).toMatch(
    /both times; the first time the ciphertext's SHA-256 is /,
  );
});

test("another backup that comes back the second time fails too", async () => {
  const other = await readFile((await reseal(place, Buffer.from("another dump"))).path);
  const tested = await testIt({ ciphertext: store(flipped(stored), other) });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
});

test("a local file that is damaged is read twice, and fails", async () => {
  const path = join(place.dir, "damaged.age");
  await writeFile(path, flipped(stored));
  expect((await testIt({ ciphertext: { path } })).reason).toContain("damaged both times");
});

test("a copy on this host that changes after its digest was right is downloaded again", async () => {
  const path = join(place.dir, "copy.age");
  const changing = async (again: Buffer): Promise<[RestoreTestResult, downloads: number]> => {
    await writeFile(path, stored);
    let downloads = 0;
    const tested = await testIt({
      ciphertext: { path },
      onProgress: ({ phase, bytes }) => {
        if (phase === "decrypt" && bytes === stored.length && downloads === 0)
          writeFileSync(path, flipped(stored));
      },
      downloadAgain: async () => {
        downloads++;
        await writeFile(path, again);
      },
    });
    return [tested, downloads];
  };
  const [right, once] = await changing(stored);
  expect([right.reason, right.result, once]).toEqual([undefined, "passed", 1]);
  expect(readingOf(right)?.observed["first_reading"]).toMatch(/does not authenticate/);
  const [wrong, twice] = await changing(flipped(stored));
  expect([wrong.result, twice]).toEqual(["failed", 1]);
  expect(wrong.reason).toContain("damaged both times");
});

test("a second download takes no time of the restore, so a slow one is never called a slow restore", async () => {
  const limits = { ...DEFAULT_LIMITS, time_s: 15 };
  const after = async (name: string, then: (path: string) => Promise<void>): Promise<RestoreTestResult> => {
    const path = join(place.dir, name);
    await writeFile(path, stored);
    let isChanged = false;
    return testIt({
      source: { ...source, limits },
      ciphertext: { path },
      onProgress: ({ phase, bytes }) => {
        if (phase === "decrypt" && bytes === stored.length && !isChanged)
          writeFileSync(path, flipped(stored));
        isChanged ||= phase === "decrypt" && bytes === stored.length;
      },
      downloadAgain: async () => {
        // What the store takes, whatever anybody waits for.
        await setTimeout((limits.time_s + 1) * 1000);
        await then(path);
      },
    });
  };
  const unreachable = new RunError("ciphertext_unavailable", "the store is gone");
  const [right, damaged, gone] = await Promise.all([
    after("slow.age", (path) => writeFile(path, stored)),
    after("slow-damaged.age", (path) => writeFile(path, flipped(stored))),
    after("slow-gone.age", () => Promise.reject(unreachable)).catch((error: unknown) => error),
  ]);
  expect([right.reason, right.result]).toEqual([undefined, "passed"]);
  expect(readingOf(right)).toBeDefined();
  expect(damaged).toMatchObject({
    result: "failed",
    reason: expect.stringMatching(/damaged both times/) as string,
  });
  // Nobody knows whether the backup restores.
  expect(gone).toBe(unreachable);
});

test("one that never authenticated fails after two readings, although its digest is the signed one", async () => {
  const bad = flipped(stored);
  const ciphertext = store(bad);
  const tested = await testIt({ ciphertext, sha256: createHash("sha256").update(bad).digest("hex") });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
  expect(tested.reason).toMatch(/does not authenticate.*damaged both times$/);
  expect(ciphertext.readings()).toBe(2);
});

test("a failure that is about something else says that the first reading was damaged", async () => {
  const nonsense = await reseal(place, Buffer.from("no database"));
  const bytes = await readFile(nonsense.path);
  const tested = await testIt({
    ciphertext: store(flipped(bytes), bytes),
    sha256: nonsense.sha256,
    backupMetadata: { ...made.sourceMetadata, plaintext_size_bytes: 11 },
  });
  expect(tested.result).toBe("failed");
  expect(tested.reason).toMatch(
    /The first reading of the stored backup was damaged \(.*\), the second was not$/,
  );
});
