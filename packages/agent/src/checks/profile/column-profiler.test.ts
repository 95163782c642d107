import { expect, test } from "vitest";
import fc from "fast-check";
import { ColumnProfiler, measureText, MIN_ROWS } from "./column-profiler.ts";

function profileOf(values: readonly (string | null)[]) {
  const profiler = new ColumnProfiler("note", 7);
  for (const value of values)
    profiler.add(value === null ? null : measureText(value, Buffer.byteLength(value)));
  return profiler.end();
}

test("a column's profile has its counts and rates", () => {
  const values = Array.from({ length: 2000 }, (_, i) => (i % 4 === 0 ? null : `note ${i % 100}`));
  expect(profileOf(values)).toEqual({
    name: "note",
    nulls: 250,
    distinct: 50,
    length: 7,
    entropy: 276,
    random: 0,
  });
});

test("many different values are estimated, in bounded memory", () => {
  const profiler = new ColumnProfiler("id", 7);
  for (let i = 0; i < 50_000; i += 1) profiler.add({ value: String(i % 12_500) });
  const distinct = profiler.end()?.distinct ?? 0;
  expect(distinct).toBeGreaterThan(235);
  expect(distinct).toBeLessThan(265);
});

test("with few rows nothing is said, and of few values only that they are few", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.string()), { maxLength: MIN_ROWS - 1 }), (values) => {
      expect(profileOf(values)).toBeNull();
    }),
    { numRuns: 20 },
  );
  expect(profileOf([...Array<null>(100).fill(null), "one", "two"])).toEqual({ name: "note", nulls: 980 });
});

test("the newest time is a day after which there are ten more times", () => {
  const profiler = new ColumnProfiler("at", 7);
  const day = (text: string): number => Date.parse(`${text}T12:00:00Z`);
  for (let i = 0; i < 10; i += 1) profiler.add({ value: String(i), at_ms: day("2026-11-23") });
  for (let i = 0; i < 100; i += 1) profiler.add({ value: String(i), at_ms: day("2026-05-05") - i });
  profiler.add({ value: "infinity", at_ms: Infinity });
  expect(profiler.end()?.newest).toBe("2026-05-05");
});

test("no part of a value is in a profile", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[g-z]{8,40}$/), { minLength: MIN_ROWS, maxLength: 80 }),
      (values) => {
        const { name: _, ...numbers } = profileOf(values) ?? { name: "" };
        expect(Object.values(numbers).every((each) => Number.isSafeInteger(each) && Number(each) >= 0)).toBe(
          true,
        );
      },
    ),
    { numRuns: 20 },
  );
});
