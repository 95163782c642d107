import { newId } from "@attestore/contract";
import { describe, expect, test } from "vitest";
import { keptCheck } from "../built-in/kept-check.ts";
import { lossText } from "./loss-texts.ts";
import { EarlierTests } from "./earlier-tests.ts";
import type { PassedBefore, PassedTest } from "../passed-tests.ts";
import { totalRowsCheck } from "../built-in/total-check.ts";

const NOW = Date.parse("2026-11-23T12:00:00.000Z");
const DAY_MS = 24 * 3600 * 1000;

type Rows = Readonly<Record<string, number>>;

/** A test that passed `daysAgo` days ago, of a backup made then unless told. */
function passed(daysAgo: number, rows: Rows, madeDaysAgo = daysAgo): PassedTest {
  const [at, madeAt] = [daysAgo, madeDaysAgo].map((days) => new Date(NOW - days * DAY_MS).toISOString());
  const checks = Object.entries(rows).map(([table, count]) => ({
    id: `inferred:rows:${table}`,
    observed: { rows: count },
  }));
  return {
    at: at ?? "",
    madeAt: madeAt ?? "",
    backupId: newId("backup", NOW - madeDaysAgo * DAY_MS),
    checks,
  };
}

const seen = (tests: readonly PassedTest[], more: Partial<PassedBefore> = {}): EarlierTests =>
  new EarlierTests({ source: "shop", tests, now: NOW, ...more });

/** A count a day, the oldest first; the last is a day old. */
const daily = (...rows: readonly number[]): PassedTest[] =>
  rows.map((count, index) => passed(rows.length - index, { orders: count })).toReversed();

const accepted = (table: string, upTo: PassedTest) => ({ table, at: upTo.at, upTo: upTo.madeAt });

describe("how many rows a table must have", () => {
  test.each([
    ["none after one", daily(1), 1n],
    ["more than half", daily(1000), 501n],
    ["more than half of an odd number", daily(999), 500n],
    ["any number if it never had rows", daily(0), null],
    ["more than half of the best, not of the last", daily(1000, 600), 501n],
    ["the best of the last 30 days only", [passed(1, { orders: 600 }), passed(31, { orders: 1000 })], 301n],
    ["what the newest backup had, however old it is", [passed(200, { orders: 600 })], 301n],
    [
      "what a backup had that was made lately, not one that was tested lately",
      [passed(2, { orders: 600 }), passed(1, { orders: 1000 }, 80)],
      301n,
    ],
    ["95 % if it never shrank in 8 days", daily(1000, 1000, 1001, 1010, 1010, 1012, 1015, 1020), 969n],
    ["95 %, but 5 rows less if it is small", daily(20, 20, 20, 20, 20, 20, 20, 20), 15n],
    ["more than half if it is known for 5 days", daily(1000, 1000, 1000, 1000, 1000), 501n],
    [
      "more than half if it is cleaned up once a week",
      daily(1000, 1100, 1200, 1000, 1100, 1200, 1300, 1300),
      651n,
    ],
    [
      "95 % of the best of 90 days if it never shrank: small losses add up",
      [passed(1, { orders: 960 }), ...[35, 40, 45, 80].map((days) => passed(days, { orders: 1000 }))],
      950n,
    ],
    ["95 % if it lost a few", daily(1000, 996, 1000, 990, 1000, 1000, 980, 1000), 950n],
  ] as const)("%s", (_, tests, expected) => {
    expect(seen(tests).floorOf("orders")?.rows ?? null).toBe(expected);
  });

  test("none if the configuration says that it shrinks, by its name or a pattern", () => {
    const tests = [passed(1, { "public.orders": 1000 })];
    for (const mayShrink of [["public.orders"], ["orders"], ["ord*"], ["public.*"]])
      expect(seen(tests, { mayShrink }).floorOf("public.orders"), mayShrink[0]).toBeNull();
    expect(seen(tests, { mayShrink: ["lines"] }).floorOf("public.orders")?.rows).toBe(501n);
    expect(seen(tests, { rowFloors: false }).floorOf("public.orders")).toBeNull();
  });

  test("an accepted loss is no longer expected, and later rows are", () => {
    const [newest, ...older] = daily(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000);
    if (newest === undefined) throw new Error("no test");
    const acceptances = [accepted("orders", newest)];
    expect(seen([newest, ...older], { accepted: acceptances }).floorOf("orders")).toBeNull();
    const later = passed(0, { orders: 400 });
    expect(seen([later, newest, ...older], { accepted: acceptances }).floorOf("orders")?.rows).toBe(201n);
    expect(seen([newest, ...older], { accepted: [accepted("lines", newest)] }).floorOf("orders")?.rows).toBe(
      950n,
    );
  });

  test("a table that lost rows once, with somebody's consent, is not steady for 90 days", () => {
    const steady = daily(400, 400, 400, 400, 400, 400, 400, 400);
    const before = passed(10, { orders: 1000 });
    const tests = [...steady, before];
    expect(seen(tests, { accepted: [accepted("orders", before)] }).floorOf("orders")?.rows).toBe(201n);
  });
});

describe("which tables must be there", () => {
  const newest = { ...passed(1, { orders: 10, settings: 0 }), tables: ["orders", "large"] };

  test("all that the newest passed test counted, and those that its backup names without a count", () => {
    expect(keptCheck(["orders", "settings", "large"], seen([newest]))).toMatchObject({
      result: "passed",
      observed: { tables: 3, gone: 0, backup_id: newest.backupId },
    });
    const gone = keptCheck(["orders", "new"], seen([newest]));
    expect(gone).toMatchObject({ result: "failed", observed: { gone: 2, gone_tables: "large, settings" } });
    expect(gone?.observed["error"]).toBe(
      `gone since the restore test of 2026-11-22 12:00 UTC (${newest.backupId}): large, settings (0 rows). ` +
        "If that is right: attestore accept shop large settings --because REASON",
    );
  });

  test("of many that are gone, the message names some and says how to see all", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`t${index}`, 1]));
    const gone = keptCheck([], seen([passed(1, many)]));
    expect(gone?.observed["error"]).toMatch(
      /t0 \(1 row\), t1 .* and 37 more\. To list all: attestore accept shop$/,
    );
  });

  test("a table that a pattern means may go, one that is named in full may not", () => {
    expect(keptCheck(["orders", "large"], seen([newest], { mayShrink: ["set*"] }))?.result).toBe("passed");
    expect(keptCheck(["orders", "large"], seen([newest], { mayShrink: ["settings"] }))?.result).toBe(
      "failed",
    );
    // Without floors, tables must still be there.
    expect(keptCheck(["orders", "large"], seen([newest], { rowFloors: false }))?.result).toBe("failed");
  });

  test("not those that somebody accepted", () => {
    const before = seen([newest], { accepted: [accepted("settings", newest), accepted("lar*", newest)] });
    expect(keptCheck(["orders"], before)?.result).toBe("passed");
    expect(keptCheck(["orders"], seen([newest], { accepted: [accepted("*", newest)] }))).toBeNull();
  });
});

test("all tables together have more than half of the best, not of the newest", () => {
  const tests = [passed(1, { a: 50, b: 550 }), passed(2, { a: 50, b: 950 })];
  const rows = (a: number, b: number) => passed(0, { a, b }).checks;
  expect(totalRowsCheck(rows(50, 450), seen(tests))).toMatchObject({
    result: "failed",
    expectation: "rows >= 501 and filled >= 2",
  });
  expect(totalRowsCheck(rows(50, 451), seen(tests))?.result).toBe("passed");
  expect(totalRowsCheck(rows(50, 1), seen(tests, { rowFloors: false }))).toBeNull();
});

test("the message says how much is gone, since when, and what to do; a shell reads the table as one word", () => {
  const tests = [passed(1, { 'public."Order items"': 1000 })];
  const before = seen(tests);
  const floor = before.floorOf('public."Order items"');
  if (floor === null) throw new Error("no floor");
  expect(lossText('public."Order items"', 100, floor, before)).toBe(
    `public."Order items" has 100 rows and had 1000 in the restore test of 2026-11-22 12:00 UTC (${tests[0]?.backupId}): ` +
      `90 % are gone. If that is right: attestore accept shop 'public."Order items"' --because REASON`,
  );
});
