import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** Such as the disk of a virtual machine. */
const SIZE = 1 << 30;
let place: TestPlace;

beforeAll(async () => {
  place = await makeTestPlace();
});
afterAll(() => place.remove());

test("a file that is larger than the restore may take, because of its holes, comes back and is compared", async () => {
  const tree = join(place.dir, "tree");
  mkdirSync(tree);
  const file = openSync(join(tree, "disk.img"), "w");
  ftruncateSync(file, SIZE);
  writeSync(file, "data", SIZE / 2);
  closeSync(file);
  const source = {
    slug: "machines",
    engine: "files",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: tree,
    limits: { ...DEFAULT_LIMITS, restoreDisk: 16 << 20 },
  } as const;
  const made = await backUp(place, source);
  const tested = await testBackup(place, source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:files")?.observed).toMatchObject({ bytes: SIZE });
});
