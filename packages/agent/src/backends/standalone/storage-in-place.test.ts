import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { layoutOf, type Layout } from "../../state/layout.ts";
import { storageMissing } from "./storage-in-place.ts";

let base: string;
let layout: Layout;
let path: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "storage-in-place-"));
  layout = layoutOf(join(base, "root"));
  path = join(base, "storage");
  mkdirSync(layout.storedBackups, { recursive: true });
  writeFileSync(join(layout.storedBackups, "bkp_1.json"), "{}");
});
afterEach(() => rmSync(base, { recursive: true }));

const missing = (): Promise<string | null> => storageMissing(layout, { kind: "directory", path });

test("a storage without any of its backups is missing, and one with one of them is not", async () => {
  expect(await missing()).toContain("is its disk mounted?");
  mkdirSync(join(path, "orders"), { recursive: true });
  writeFileSync(join(path, "notes.txt"), "");
  writeFileSync(join(path, "orders", "bkp_2.age"), "");
  expect(await missing()).toContain("is its disk mounted?");
  writeFileSync(join(path, "orders", "bkp_1.age"), "");
  expect(await missing()).toBeNull();
});

test("what cannot be read is not said to be missing", async () => {
  mkdirSync(path);
  // Root may read everything but this.
  symlinkSync("orders", join(path, "orders"));
  expect(await missing()).toBeNull();
  rmSync(path, { recursive: true });
  symlinkSync(path, path);
  expect(await missing()).toBeNull();
});
