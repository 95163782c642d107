import type { Profile, TableProfile } from "@attestore/proof";
import { expect, test } from "vitest";
import { type PassedTest, EarlierTests } from "../checks/index.ts";
import type { FoundProfile, Restored } from "../engines/engine.ts";
import { profileCopy } from "./profile-copy.ts";

const NAMES = Array.from({ length: 200 }, (_, at) => `${"t".repeat(90)}${at}`);

const tablesOf = (random: number, columns = 40): TableProfile[] =>
  NAMES.map((name) => ({
    name,
    rows: 10_000,
    columns: Array.from({ length: columns }, (_, at) => ({ name: `column_${at}`, nulls: 0, random })),
  }));

function after(...profiles: readonly Profile[]): EarlierTests {
  const tests = profiles.map((profile, index): PassedTest => {
    const at = `2026-11-${String(20 - index)}T03:00:00.000Z`;
    return { at, madeAt: at, backupId: `bkp_${20 - index}`, checks: [], profile };
  });
  return new EarlierTests({ source: "orders", tests, now: Date.parse("2026-11-23T12:00:00Z") });
}

function profileOf(found: FoundProfile, seen: EarlierTests | null): Promise<Profile | null> {
  const restored = { profile: () => Promise.resolve(found) } as unknown as Restored;
  return profileCopy(restored, { key: null, seen, budget_ms: 1000, signal: new AbortController().signal });
}

const of = (tables: readonly TableProfile[]): Profile => ({
  v: 1,
  tables: [...tables],
  left_out: 0,
  suspicious: [],
});

test("a receipt has room for a profile in which everything is suspicious; values that are left out are not compared later", async () => {
  const normal = of(tablesOf(0));
  const encrypted = await profileOf({ tables: tablesOf(900), left_out: 0 }, after(normal, normal, normal));
  expect(Buffer.byteLength(JSON.stringify(encrypted))).toBeLessThan(33 << 10);
  const told = new Set(encrypted?.suspicious.map(({ table }) => table));
  expect(told.size).toBeGreaterThan(70);
  expect(encrypted?.tables.every(({ name }) => told.has(name))).toBe(true);
  expect(encrypted?.left_out).toBe(200 - (encrypted?.tables.length ?? 0));
});

test("in a small set of tables every suspicious column is named", async () => {
  const [few, wrong] = [tablesOf(0, 3).slice(0, 5), tablesOf(900, 3).slice(0, 5)];
  const found = await profileOf({ tables: wrong, left_out: 1 }, after(of(few), of(few), of(few)));
  expect(found).toMatchObject({ tables: wrong, left_out: 1 });
  expect(found?.suspicious).toHaveLength(15);
});

test("it is suspicious that no table has a profile any longer, until somebody accepts it", async () => {
  const normal = of(tablesOf(0, 3).slice(0, 5));
  const none: FoundProfile = { tables: [], left_out: 5 };
  const gone = [{ table: "*", column: "*", measure: "tables", now: 0, before: 5 }];
  const first = await profileOf(none, after(normal, normal));
  expect(first).toEqual({ v: 1, tables: [], left_out: 5, suspicious: gone });
  if (first === null) throw new Error("it was told");
  expect(await profileOf(none, after(first, normal, normal))).toEqual(first);
  expect(await profileOf(none, after())).toBeNull();
  expect(await profileOf(none, null)).toBeNull();
  const accepted = new EarlierTests({
    source: "orders",
    tests: [{ at: "2026-11-20", madeAt: "2026-11-20", backupId: "bkp_1", checks: [], profile: normal }],
    accepted: [{ table: "*", at: "2026-11-21", upTo: "2026-11-21" }],
  });
  expect(await profileOf(none, accepted)).toBeNull();
});

test("a finding stays while its table has no profile, until somebody accepts it", async () => {
  const [one, other] = tablesOf(0, 1);
  const [wrong] = tablesOf(900, 1);
  if (one === undefined || other === undefined || wrong === undefined) throw new Error("two tables");
  const normal = of([one, other]);
  const found = await profileOf({ tables: [wrong, other], left_out: 0 }, after(normal, normal, normal));
  if (found === null) throw new Error("it was told");
  const left = await profileOf({ tables: [other], left_out: 1 }, after(found, normal, normal, normal));
  expect(left).toEqual({ ...of([other]), left_out: 1, suspicious: found.suspicious });
  expect(found.suspicious).toHaveLength(1);
  const accepted = new EarlierTests({
    source: "orders",
    tests: [{ at: "2026-11-20", madeAt: "2026-11-20", backupId: "bkp_1", checks: [], profile: found }],
    accepted: [{ table: one.name, at: "2026-11-21", upTo: "2026-11-21" }],
  });
  expect((await profileOf({ tables: [other], left_out: 1 }, accepted))?.suspicious).toEqual([]);
});
