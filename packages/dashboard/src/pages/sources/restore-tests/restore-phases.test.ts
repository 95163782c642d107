import { expect, test } from "vitest";
import type { RestoreTest } from "../queries.ts";
import { chartTop_ms, checkChanges, dataBack_ms } from "./restore-phases.ts";

const phases = { download_ms: 100, decrypt_ms: 200, restore_ms: 700, checks_ms: 500 };
const tested = (
  checks: [id: string, definition: string][],
  more: Partial<RestoreTest> = {},
): RestoreTest => ({
  receipt_id: "rcpt_1",
  created_at: "2026-11-21T12:00:00.000Z",
  agent_id: "agent_1",
  backup_id: "bkp_1",
  started_at: "2026-11-21T11:00:00.000Z",
  finished_at: "2026-11-21T12:00:00.000Z",
  result: "passed",
  runtime: { kind: "process", engine: "sqlite", engine_version: "3.46" },
  phases,
  checks: checks.map(([id, definition_sha256]) => ({
    id,
    definition_sha256,
    observed: {},
    expectation: "n > 0",
    result: "passed",
    duration_ms: 1,
  })),
  ...more,
});

test("the data counts as back before the checks begin", () => {
  expect(dataBack_ms(phases)).toBe(1000);
});

test("the chart extends to the objective unless that would make the tests too small to see", () => {
  const tests = [{ ...tested([]), phases }];
  expect([null, 1, 4, 3600].map((rto_s) => chartTop_ms(tests, rto_s))).toEqual([1000, 1000, 4000, 1000]);
  expect(chartTop_ms([], null)).toBe(1);
});

test("a test names the checks that were changed, added or removed since the previous test", () => {
  const before = tested([
    ["a", "1"],
    ["b", "1"],
    ["c", "1"],
  ]);
  const last = tested([
    ["a", "1"],
    ["b", "2"],
    ["d", "1"],
  ]);
  expect(checkChanges(last, before)).toEqual({
    changed: new Set(["b"]),
    added: new Set(["d"]),
    gone: ["c"],
  });
  expect(checkChanges(last, undefined).added.size).toBe(0);
});
