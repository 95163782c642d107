import { describe, expect, it } from "vitest";
import { evaluateCheck } from "./evaluation/evaluate-check.ts";
import { verdict } from "./verdict.ts";

const check = (id: string, n: string) =>
  evaluateCheck({ id, query: "select 1 as n", expect: "n = 1" }, { kind: "rows", rows: [`{"n":${n}}`] }, 1);

describe("the verdict", () => {
  it("is passed for checks that all passed", () => {
    expect(verdict([check("a", "1")])).toEqual({ result: "passed" });
    expect(verdict([check("a", "1"), check("b", "1.0")])).toEqual({ result: "passed" });
  });

  it("is failed where nothing was checked", () => {
    expect(verdict([])).toEqual({ result: "failed", reason: "no check read any data" });
  });

  it("is failed if one check failed, in any place, and says why", () => {
    const reason = 'check b failed: expected n = 1, observed {"n":2}';
    expect(verdict([check("a", "1"), check("b", "2")])).toEqual({ result: "failed", reason });
    expect(verdict([check("b", "2"), check("a", "1")])).toEqual({ result: "failed", reason });
    expect(verdict([check("b", "null"), check("c", "2"), check("d", "3")])).toEqual({
      result: "failed",
      reason: "check b failed: NULL never satisfies a comparison: n (and 2 more failed)",
    });
  });

  it("names a check that somebody wrote before one that was inferred", () => {
    const reason = 'check b failed: expected n = 1, observed {"n":2} (and 1 more failed)';
    expect(verdict([check("inferred:a", "2"), check("b", "2")])).toEqual({ result: "failed", reason });
  });

  it("names a check that says what differs before the schema's", () => {
    const reason = 'check inferred:objects failed: expected n = 1, observed {"n":2} (and 1 more failed)';
    const both = [check("inferred:schema", "2"), check("inferred:objects", "2")];
    expect(verdict(both)).toEqual({ result: "failed", reason });
    expect(verdict(both.slice(0, 1))).toMatchObject({
      reason: expect.stringContaining("inferred:schema") as string,
    });
  });

  it("has a reason in bounds", () => {
    const long = evaluateCheck(
      { id: "x", query: "q", expect: `t = '${"a".repeat(4_000)}'` },
      { kind: "rows", rows: [`{"t":"${"😀".repeat(120)}"}`] },
      1,
    );
    const result = verdict([long]);
    expect(result).toHaveProperty(
      "reason",
      expect.stringMatching(/^check x failed: expected t = 'a+…, observed .+…$/u),
    );
    expect(JSON.stringify(result).length).toBeLessThan(500);
    expect(JSON.stringify(result)).not.toContain("\\ud");
  });
});
