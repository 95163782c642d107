import fc from "fast-check";
import { expect, test } from "vitest";
import { parseByteRange } from "./byte-range.ts";

test.each([
  ["bytes=0-0", 10, { kind: "part", start: 0, end: 0 }],
  ["bytes=3-", 10, { kind: "part", start: 3, end: 9 }],
  ["bytes=3-5", 10, { kind: "part", start: 3, end: 5 }],
  ["bytes=3-99", 10, { kind: "part", start: 3, end: 9 }],
  ["bytes=-4", 10, { kind: "part", start: 6, end: 9 }],
  ["bytes=-40", 10, { kind: "part", start: 0, end: 9 }],
  ["bytes=10-", 10, { kind: "unsatisfiable" }],
  ["bytes=-0", 10, { kind: "unsatisfiable" }],
  ["bytes=0-", 0, { kind: "unsatisfiable" }],
  ["bytes=5-3", 10, { kind: "whole" }],
  ["bytes=0-1,3-4", 10, { kind: "whole" }],
  ["lines=0-1", 10, { kind: "whole" }],
  ["bytes=-", 10, { kind: "whole" }],
  [undefined, 10, { kind: "whole" }],
])("%s of %i bytes", (header, size, expected) => {
  expect(parseByteRange(header, size)).toEqual(expected);
});

test("a range never yields bytes outside the object", () => {
  const header = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
  );
  fc.assert(
    fc.property(header, fc.nat(1000), (text, size) => {
      const range = parseByteRange(text, size);
      if (range.kind !== "part") return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.start).toBeLessThanOrEqual(range.end);
      expect(range.end).toBeLessThan(size);
    }),
  );
});
