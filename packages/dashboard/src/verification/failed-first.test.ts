import { expect, test } from "vitest";
import { failedFirst } from "./failed-first.ts";

test("failed lines come first, and each group keeps its order", () => {
  const checks = [
    { id: "a", result: "passed" },
    { id: "b", result: "failed" },
    { id: "c", result: "passed" },
    { id: "d", result: "failed" },
  ] as const;
  expect(failedFirst(checks).map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
});
