import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/index.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { threeAlike } from "./earlier-tests-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** What a restored tree of files looks like, and what stands out in it. */

const PROSE = "please leave the parcel with the neighbours, thanks\n".repeat(20);
const UPTO = 300;

let place: TestPlace;
let tree: string;

beforeEach(async () => {
  place = await makeTestPlace();
  tree = join(place.dir, "tree");
  mkdirSync(join(tree, "people"), { recursive: true });
  for (let at = 0; at < UPTO; at += 1) {
    writeFileSync(
      join(tree, `scan-of-anna-${at}.pdf`),
      Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(3000)]),
    );
    writeFileSync(join(tree, "people", `${at}.txt`), `${PROSE}${at}`);
  }
  for (let at = 0; at < 40; at += 1) writeFileSync(join(tree, `secret-${at}.mp3`), "ID3");
});
afterEach(() => place.remove());

async function testIt(
  seen: EarlierTests | null = null,
  more: Partial<SourceConfigOf<"files">> = {},
): Promise<RestoreTestResult> {
  const source = {
    slug: "share",
    engine: "files",
    path: tree,
    sandbox: "process",
    checks: [],
    checkTimeout_s: 60,
    ...more,
  } as const;
  const made = await backUp(place, source);
  const tested = await testBackup(place, source, made, { seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

test("a profile of files has kinds and rates, no name and no kind with few files; encrypted or renamed files are suspicious", async () => {
  const normal = await testIt();
  expect(normal.result, normal.reason).toBe("passed");
  expect(normal.profile).toEqual({
    v: 1,
    tables: [],
    left_out: 0,
    suspicious: [],
    files: {
      files: 2 * UPTO + 40,
      kinds: [
        { name: "all", files: 2 * UPTO + 40, mismatched: 0, entropy: expect.any(Number), random: 0 },
        { name: "documents", files: UPTO, mismatched: 0, entropy: expect.any(Number), random: 0 },
        { name: "texts", files: UPTO, mismatched: 0, entropy: expect.any(Number), random: 0 },
      ],
      renamed: 0,
      notes: 0,
    },
  });
  expect(JSON.stringify(normal.profile)).not.toMatch(/anna|secret|people|neighbours|mp3|recordings/);

  for (let at = 0; at < 6; at += 1) writeFileSync(join(tree, "people", `${at}.txt`), randomBytes(1000));
  const told = await testIt(threeAlike("share", normal.profile));
  expect(told.result).toBe("passed");
  const random = { table: ".", column: "texts", measure: "random", now: 20, before: 0 };
  expect(told.profile?.suspicious).toContainEqual(random);
  // The next test is not compared with a suspicious one.
  expect((await testIt(threeAlike("share", told.profile))).profile?.suspicious).toContainEqual(random);
  // What the checks would not notice; nothing is said of columns that they do not name.
  const bytes = `${PROSE}7`.length;
  const checked = await testIt(null, {
    checks: [
      { id: "some", query: "people", expect: `files >= ${UPTO}` },
      { id: "any", query: "people", expect: "files >= 0 and newest is not null" },
      { id: "fresh", query: ".", expect: "age(newest) < 26h and bytes > 1000" },
      { id: "one", query: "people/7.txt", expect: `bytes = ${bytes} and sha256 matches '[0-9a-f]{64}'` },
    ],
  });
  expect(checked.reason).toBeUndefined();
  const controls = ["some", "any", "fresh", "one"].map((of) => {
    const { at: _, ...ways } = checked.checks.find(({ id }) => id === of)?.negative_control ?? { at: "" };
    return ways;
  });
  expect(controls).toEqual([
    { noticed: ["an empty people"], not_noticed: [], not_tried: [] },
    { noticed: ["an empty people"], not_noticed: ["people a year older"], not_tried: [] },
    { noticed: ["an empty .", "every file of . empty", ". a year older"], not_noticed: [], not_tried: [] },
    { noticed: ["an empty people/7.txt"], not_noticed: ["people/7.txt zeroed"], not_tried: [] },
  ]);
  const failed = await testIt(threeAlike("share", normal.profile), { onSuspicion: "fail" });
  expect(failed.result).toBe("failed");
  expect(failed.reason).toContain("attestore accept share . --because REASON");

  for (const name of readdirSync(tree).filter((each) => each.endsWith(".pdf")))
    renameSync(join(tree, name), join(tree, `${name}.x7f3a`));
  writeFileSync(join(tree, "HOW_TO_DECRYPT.txt"), "pay");
  const renamed = await testIt(threeAlike("share", normal.profile));
  expect(renamed.profile?.suspicious.slice(0, 3)).toEqual([
    { table: ".", column: "names", measure: "notes", now: 1, before: 0 },
    { table: ".", column: "names", measure: "renamed", now: expect.any(Number), before: 0 },
    { table: ".", column: "documents", measure: "files", now: "under 50", before: UPTO },
  ]);
});
