import { expect, test } from "vitest";
import { parseExpectation } from "../expectation/parse.ts";
import { sqliteIntegrityCheck } from "./integrity-check.ts";

const duration_ms = 3;

test("SQLite's integrity check passes with one ok and nothing else", () => {
  const check = (...messages: string[]) => sqliteIntegrityCheck({ messages, duration_ms });
  expect(check("ok")).toMatchObject({
    id: "inferred:integrity",
    observed: { messages: 1, message: "ok" },
    result: "passed",
  });
  expect(check().result).toBe("failed");
  expect(check("ok", "ok").result).toBe("failed");
  expect(check("row 3 missing from index").result).toBe("failed");
});

test("its expectation is one that a configured check could have", () => {
  const { expectation } = sqliteIntegrityCheck({ messages: [], duration_ms });
  expect(() => parseExpectation(expectation)).not.toThrow();
});
