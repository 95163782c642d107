import { newId } from "@attestore/contract";
import { expect, test } from "vitest";
import { EarlierTests } from "../earlier-tests/earlier-tests.ts";
import { KINDS_ID, kindsCheck } from "./kinds-check.ts";
import type { PassedBefore, PassedTest } from "../passed-tests.ts";

const NOW = Date.parse("2026-11-23T12:00:00.000Z");

/** A test that passed `daysAgo` days ago, of a backup made then. */
function passed(daysAgo: number, observed: Readonly<Record<string, number>>): PassedTest {
  const madeAt = new Date(NOW - daysAgo * 86_400_000);
  const at = madeAt.toISOString();
  const backupId = newId("backup", madeAt.getTime());
  return { at, madeAt: at, backupId, checks: [{ id: KINDS_ID, observed }] };
}

function check(
  kinds: Readonly<Record<string, number>>,
  tests: readonly PassedTest[],
  more: Partial<PassedBefore> = {},
) {
  const seen = new EarlierTests({ source: "shop", tests, now: NOW, ...more });
  return kindsCheck({ kinds: new Map(Object.entries(kinds)), seen, duration_ms: 1 });
}

test("one object fewer than in the backup before passes, and the test says so", () => {
  expect(check({ trigger: 4 }, [passed(1, { triggers: 4 })])?.observed).toEqual({ objects: 4, triggers: 4 });
  expect(check({ trigger: 3, index: 1 }, [passed(1, { triggers: 4, indexes: 1 })])).toMatchObject({
    result: "passed",
    observed: { fewer: "triggers 3 of 4" },
  });
});

test("each step of a loss that creeps is told, and half of the most fails", () => {
  const steps = [passed(1, { triggers: 6 }), passed(2, { triggers: 8 }), passed(3, { triggers: 10 })];
  expect(check({ trigger: 5 }, steps)).toMatchObject({
    result: "passed",
    observed: { fewer: "triggers 5 of 6" },
  });
  const gone = check({ trigger: 4 }, steps);
  expect(gone).toMatchObject({ result: "failed", observed: { fewer: "triggers 4 of 6" } });
  expect(gone?.observed["error"]).toContain("triggers 4 of 10");
});

test("every test of a backup compares with the backup before, not with its own earlier tests", () => {
  const own = passed(0, { triggers: 3 });
  const tests = [own, passed(1, { triggers: 4 })];
  expect(check({ trigger: 3 }, tests, { backupId: own.backupId })?.observed["fewer"]).toBe("triggers 3 of 4");
  expect(check({ trigger: 3 }, tests)?.observed).not.toHaveProperty("fewer");
});

test("a loss that somebody accepted is not told again, and one that may be right fails nothing", () => {
  const before = passed(1, { triggers: 4, views: 1 });
  const accepted = [{ table: ".", at: before.at, upTo: before.madeAt }];
  expect(check({ trigger: 3 }, [before], { accepted })?.observed).toEqual({ objects: 3, triggers: 3 });
  expect(check({ trigger: 1 }, [before], { mayShrink: ["."] })).toMatchObject({
    result: "passed",
    observed: { fewer: "triggers 1 of 4, views 0 of 1" },
  });
});

test("large objects come and go as rows do", () => {
  expect(check({ large_object: 9 }, [passed(1, { large_objects: 10 })])?.observed).toEqual({
    objects: 9,
    large_objects: 9,
  });
});
