import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { PassedTest } from "../../src/checks/passed-tests.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable } from "./damage-table.ts";
import { type DamagedSource, EARLIER, startDamagedSource } from "./damaged-postgresql.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** What happens to a PostgreSQL source and only earlier tests show: docs/damage.md. */

const own = new DamageTable("PostgreSQL", "PostgreSQL alone", (what) => EARLIER.has(what));
let place: TestPlace;
let source: DamagedSource;
let passed: RestoreTestResult;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startDamagedSource(place);
  passed = await source.test(await source.back());
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

/** One test a day. */
const days = (count: number, test: (day: number) => Partial<PassedTest>): EarlierTests =>
  new EarlierTests({
    source: "shop",
    tests: Array.from({ length: count }, (_, day) => {
      const at = new Date(Date.now() - (day + 0.5) * 24 * 3600_000).toISOString();
      return { at, madeAt: at, backupId: newId("backup", Date.parse(at)), checks: [], ...test(day) };
    }),
  });

const usual = (): EarlierTests => days(5, () => ({ checks: passed.checks, profile: passed.profile! }));

test("at the source, what only earlier tests show", async () => {
  const less = await source.damaged("delete from halved where id > 30; delete from small_24", source.back);
  const halved = (rows: number) => [{ id: "inferred:rows:public.halved", observed: { rows } }];
  const crept = await source.test(
    less,
    less,
    days(3, (day) => ({ checks: halved(day === 0 ? 55 : 100) })),
  );
  own.noticed("45 % of a table's rows deleted, and again after a test passed", crept, "public.halved");
  const emptied = await source.test(
    less,
    less,
    days(3, () => ({ checks: passed.checks })),
  );
  own.noticed("the 24th of many small tables emptied", emptied, "public.small_24");
});

test.each([
  ["every value of a column set to NULL", "update letters set mail = null", "mail"],
  [
    "a column overwritten by what ransomware writes",
    "update letters set note = encode(sha256(note::bytea) || sha256(id::text::bytea), 'base64')",
    "note",
  ],
])("at the source, what the profile shows: %s", async (what, sql, column) => {
  const made = await source.damaged(sql, source.back);
  const tested = await source.test(made, made, usual());
  expect(tested.profile?.suspicious).toContainEqual(
    expect.objectContaining({ table: "public.letters", column }),
  );
  own.says(what, "reported as suspicious");
});

test("every case of the tables is here", () => own.everyCaseIsHeld());
