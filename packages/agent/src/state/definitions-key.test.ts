import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readDefinitionsKey } from "./definitions-key.ts";
import { type Layout, layoutOf, makeLayout } from "./layout.ts";

let layout: Layout;
beforeEach(async () => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-key-")));
  await makeLayout(layout);
});
afterEach(() => {
  chmodSync(layout.keys, 0o700);
  rmSync(layout.root, { recursive: true });
});

test("the key of a source stays, is another source's other one, and only its owner reads the file", async () => {
  const keys = await Promise.all([1, 2, 3].map(() => readDefinitionsKey(layout, "shop")));
  const [key] = keys;
  expect(key).toHaveLength(32);
  for (const each of keys) expect(each).toEqual(key);
  expect(await readDefinitionsKey(layout, "shop")).toEqual(key);
  expect(await readDefinitionsKey(layout, "old")).not.toEqual(key);
  expect(statSync(layout.definitionsKey).mode & 0o777).toBe(0o600);
});

test("a lost or damaged key is replaced by another one", async () => {
  const key = await readDefinitionsKey(layout, "shop");
  unlinkSync(layout.definitionsKey);
  const second = await readDefinitionsKey(layout, "shop");
  expect(second).not.toEqual(key);
  const text = readFileSync(layout.definitionsKey, "utf8");
  for (const damaged of ["", text.slice(0, 20), `${text}x`]) {
    writeFileSync(layout.definitionsKey, damaged);
    expect(await readDefinitionsKey(layout, "shop")).not.toEqual(second);
    expect(readFileSync(layout.definitionsKey, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  }
});

test("there is none where it can neither be read nor made", async () => {
  rmSync(layout.keys, { recursive: true });
  writeFileSync(layout.keys, "a file");
  expect(await readDefinitionsKey(layout, "shop")).toBeNull();
});
