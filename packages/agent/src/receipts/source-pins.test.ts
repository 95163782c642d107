import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { layoutOf, makeLayout, type Layout } from "../state/layout.ts";
import { confirmIdentity, holdToPin, readSourcePins } from "./source-pins.ts";

let layout: Layout;
beforeEach(async () => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-pins-")));
  await makeLayout(layout);
});
afterEach(() => rmSync(layout.root, { recursive: true }));

const shop = { system_identifier: "7", database: "shop" };
const isKnown = (identity: Readonly<Record<string, string>>, isNow = true): Promise<boolean> =>
  holdToPin(layout, "shop", { identity, seenIn: "a backup", isNow });

test("a staging copy that took the database's place is another database, until somebody confirms it", async () => {
  expect(await isKnown({ ...shop, database_oid: "16384" })).toBe(true);
  expect(await isKnown({ ...shop, database_oid: "16390" })).toBe(false);
  expect(await isKnown({ ...shop, database: "staging", database_oid: "16391" })).toBe(false);
  expect(await isKnown({ ...shop, database_oid: "16384" })).toBe(true);
  expect(await isKnown({ ...shop, database_oid: "16390" })).toBe(false);
  expect(await confirmIdentity(layout, "shop")).not.toBeNull();
  expect(await isKnown({ ...shop, database_oid: "16390" })).toBe(true);
  // Backups from before stay testable.
  expect(await isKnown({ ...shop, database_oid: "16384" }, false)).toBe(true);
});

test("a pin of an earlier version, without the database's number, takes the first one that it sees", async () => {
  expect(await isKnown(shop)).toBe(true);
  expect(await isKnown({ ...shop, database: "other", database_oid: "16384" })).toBe(false);
  expect(await isKnown({ ...shop, database_oid: "16384" })).toBe(true);
  expect((await readSourcePins(layout)).get("shop")?.accepted).toMatchObject([
    { identity: { ...shop, database_oid: "16384" } },
  ]);
  expect(await isKnown({ ...shop, database_oid: "16390" })).toBe(false);
  // A backup that an earlier version made has no number.
  expect(await isKnown(shop, false)).toBe(true);
});
