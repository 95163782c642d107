import { expect, test } from "vitest";
import { changeOf, readLimit, typedLimit } from "./quota-limits.ts";

test.each([
  ["", "default"],
  [" ", "default"],
  ["none", null],
  ["None", null],
  ["0", 0],
  [" 53687091200 ", 53_687_091_200],
  ["1.5", undefined],
  ["-1", undefined],
  ["50 GiB", undefined],
  ["9999999999999999", undefined],
])("a limit typed as %j is read as %j", (typed, limit) => {
  expect(readLimit(typed)).toBe(limit);
});

test.each([
  [{ limit: 5, default: 5 }, ""],
  [{ limit: null, default: null }, ""],
  [{ limit: null, default: 5 }, "none"],
  [{ limit: 7, default: null }, "7"],
])("a limit of %j is shown as %j", (quota, typed) => {
  expect(typedLimit(quota)).toBe(typed);
});

test("only edited fields change, and nothing changes if one is invalid", () => {
  const before = { bytes: "", objects: "7", agents: "none", requests: "" };
  expect(changeOf(before, { ...before, bytes: "100", objects: "" })).toEqual({
    bytes: 100,
    objects: "default",
  });
  expect(changeOf(before, before)).toEqual({});
  expect(changeOf(before, { ...before, bytes: "100", agents: "x" })).toBeNull();
});
