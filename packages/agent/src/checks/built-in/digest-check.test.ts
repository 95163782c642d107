import { expect, test } from "vitest";
import { digestCheck } from "./digest-check.ts";
import { parseExpectation } from "../expectation/parse.ts";

const duration_ms = 3;

test("a digest check fails with another digest, and without one", () => {
  const expectedSha256 = "ab".repeat(32);
  const same = digestCheck({ name: "manifest", expectedSha256, observedSha256: expectedSha256, duration_ms });
  expect(same).toMatchObject({
    id: "inferred:manifest",
    observed: { sha256: expectedSha256 },
    result: "passed",
  });
  const other = digestCheck({
    name: "manifest",
    expectedSha256,
    observedSha256: "ac".repeat(32),
    duration_ms,
  });
  expect(other.result).toBe("failed");
  const none = digestCheck({ name: "manifest", expectedSha256: "", observedSha256: "", duration_ms });
  expect(none).toMatchObject({
    observed: { error: "the backup's metadata has no SHA-256 of the manifest" },
    result: "failed",
  });
});

test("a digest says nothing to a person, so what it means is told where it is another", () => {
  const expectedSha256 = "ab".repeat(32);
  const checked = (observedSha256: string) =>
    digestCheck({ name: "schema", expectedSha256, observedSha256, otherwise: "compare it", duration_ms });
  expect(checked("ac".repeat(32))).toMatchObject({
    observed: { sha256: "ac".repeat(32), error: "compare it" },
    result: "failed",
  });
  expect(checked(expectedSha256).observed).toEqual({ sha256: expectedSha256 });
});

test("its expectation is one that a configured check could have", () => {
  const { expectation } = digestCheck({
    name: "a",
    expectedSha256: "a'b",
    observedSha256: "a'b",
    duration_ms,
  });
  expect(() => parseExpectation(expectation)).not.toThrow();
});
