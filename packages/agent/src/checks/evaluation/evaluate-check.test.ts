import { createHash } from "node:crypto";
import { type CheckOutcome, parseStatement, PREDICATE_RESTORE_TEST, STATEMENT_TYPE } from "@attestore/proof";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { definitionSha256, evaluateCheck } from "./evaluate-check.ts";
import type { QueryOutcome } from "./query-outcome.ts";
import { verdict } from "../verdict.ts";

const definition = { id: "has-orders", query: "select count(*) as n from orders", expect: "n >= 1000" };
const rows = (...texts: string[]): QueryOutcome => ({ kind: "rows", rows: texts });

/** The statement of a restore test that these checks are all of. */
function statementOf(checks: readonly CheckOutcome[]): Uint8Array {
  const [digest, result] = ["ab".repeat(32), verdict(checks)];
  const id = (prefix: string): string => `${prefix}_01jgxpqb7ee79bsk0wnkcm1yaa`;
  const time = "2026-01-31T12:00:00.000Z";
  const statement = {
    _type: STATEMENT_TYPE,
    subject: [{ name: id("bkp"), digest: { sha256: digest } }],
    predicateType: PREDICATE_RESTORE_TEST,
    predicate: {
      org_id: id("org"),
      agent_id: id("agent"),
      source_id: id("src"),
      backup_id: id("bkp"),
      started_at: time,
      finished_at: time,
      agent_version: "0.1.0",
      previous_receipt_sha256: null,
      runtime: { kind: "process", engine: "sqlite", engine_version: "3" },
      ...result,
      checks,
    },
  };
  return Buffer.from(JSON.stringify(statement));
}

describe("a check", () => {
  it("that held is an entry of a receipt", () => {
    const json = `{"expect":"n >= 1000","id":"has-orders","query":"select count(*) as n from orders"}`;
    expect(evaluateCheck(definition, rows(`{"n":20000}`), 12.4)).toEqual({
      id: "has-orders",
      definition_sha256: createHash("sha256").update(json).digest("hex"),
      observed: { n: 20000 },
      expectation: "n >= 1000",
      result: "passed",
      duration_ms: 12,
    });
  });

  it("covers id, query and expectation in its digest, and nothing else", () => {
    const digest = definitionSha256(definition);
    const withMore = { ...definition, more: 1 };
    expect(definitionSha256(withMore)).toBe(digest);
    const others = [
      { ...definition, id: "x" },
      { ...definition, query: "select 1000 as n" },
      { ...definition, expect: "n >= 0" },
    ];
    expect(new Set([digest, ...others.map(definitionSha256)]).size).toBe(4);
  });

  it.each<[string, QueryOutcome, Record<string, unknown>]>([
    ["an expectation not met", rows(`{"n":999}`), { n: 999 }],
    ["no row", rows(), { error: "the query returned no row" }],
    ["two rows", rows(`{"n":1000}`, `{"n":1000}`), { error: "the query returned more than one row" }],
    ["NULL", rows(`{"n":null}`), { error: "NULL never satisfies a comparison: n", n: null }],
    ["another type", rows(`{"n":"1000"}`), { error: "n (text) can't be compared with a number", n: "1000" }],
    [
      "another column",
      rows(`{"count":1000}`),
      { error: "the row has no column n; it has count", count: 1000 },
    ],
    ["a row that is none", rows("1000"), { error: "the row is not a JSON object" }],
    [
      "a column twice",
      rows(`{"n":1000,"n":1}`),
      { error: 'two columns are called "n": give them different names' },
    ],
    [
      "a timeout",
      { kind: "timeout", after_s: 60 },
      {
        error:
          "the query did not end within 60 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
      },
    ],
    [
      "an error",
      { kind: "error", message: `relation "orders" does not exist`, sqlstate: "42P01" },
      { error: `the query failed: relation "orders" does not exist (SQLSTATE 42P01)` },
    ],
  ])("fails for %s", (_, outcome, observed) => {
    expect(evaluateCheck(definition, outcome, 1)).toMatchObject({ observed, result: "failed" });
    expect(Object.keys(evaluateCheck(definition, outcome, 1).observed)).toEqual(Object.keys(observed));
  });

  it("fails for an invalid expectation, and says so next to the row", () => {
    expect(evaluateCheck({ ...definition, expect: "n >=" }, rows(`{"n":1}`), 1)).toMatchObject({
      result: "failed",
      observed: {
        error:
          "the expectation is not a valid expression: at character 5: expected a column or a value, found the end",
        n: 1,
      },
    });
  });

  it("compares what it does not record", () => {
    const long = `${"x".repeat(5_000)}`;
    const expectation = { ...definition, expect: `t = '${"x".repeat(256)}'` };
    expect(evaluateCheck(expectation, rows(JSON.stringify({ t: long })), 1).result).toBe("failed");
    const last = `{"a":"${long}","b":"${long}","c":"${long}","d":"${long}","n":1}`;
    expect(evaluateCheck({ ...definition, expect: "n = 2" }, rows(last), 1).result).toBe("failed");
    expect(evaluateCheck({ ...definition, expect: "n = 1" }, rows(last), 1).result).toBe("passed");
  });
});

test("the entry of any query result fits a receipt, and passes for one row only", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.constant("n = 1"),
    fc.constant("\ud800"),
  );
  const row = fc.oneof(
    fc.constantFrom(`{"n":1}`, `{"n":1.0}`, `{"n":null}`, `{"n":"1"}`, `{"__proto__":1,"n":1}`),
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    fc.string(),
  );
  const outcome: fc.Arbitrary<QueryOutcome> = fc.oneof(
    { weight: 3, arbitrary: fc.array(row, { maxLength: 3 }).map((each) => rows(...each)) },
    fc.record({ kind: fc.constant("error" as const), message: text }),
    fc.record({ kind: fc.constant("timeout" as const), after_s: fc.nat() }),
  );
  const expectation = fc.oneof({ weight: 4, arbitrary: fc.constant("n = 1") }, text);
  const given = fc.record({ id: text, query: text, expect: expectation });
  let passed = 0;
  fc.assert(
    fc.property(given, outcome, fc.double(), (each, came, duration) => {
      const check = evaluateCheck(each, came, duration);
      const statement = parseStatement(statementOf([check]));
      expect(statement).toMatchObject({ ok: true });
      if (check.result !== "passed") return;
      passed++;
      expect(each.expect).toBe("n = 1");
      expect(came).toMatchObject({ kind: "rows", rows: [expect.any(String)] });
    }),
    { numRuns: 2_000 },
  );
  expect(passed).toBeGreaterThan(10);
});
