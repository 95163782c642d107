import fc from "fast-check";
import { expect, test } from "vitest";
import { compareDecimals, type Decimal, parseDecimal } from "./decimal.ts";
import { processorTime_ms } from "../../../test/processor-time.ts";

function decimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`${text} is not a number`);
  return value;
}

/** `units` × 10^-`scale`, written out. */
function written(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const at = digits.length - scale;
  return `${units < 0n ? "-" : ""}${digits.slice(0, at)}${scale === 0 ? "" : `.${digits.slice(at)}`}`;
}

test.each([
  ["9007199254740992", "9007199254740993", -1],
  ["0.1", "0.10000000000000000001", -1],
  ["12345678901234567890.1234567890", "12345678901234567890.1234567891", -1],
  ["1e400", "1e399", 1],
  ["-1e400", "1e-400", -1],
  ["1e999999999", "9e999999998", 1],
  ["1e-999999999", "0", 1],
  ["1e-999999999", "-1e-999999999", 1],
  ["0.0", "-0", 0],
  ["00", "0e999999999", 0],
  ["1.50", "1.5", 0],
  ["100", "1e2", 0],
  [".5", "0.5", 0],
  ["5.", "5", 0],
  ["+7", "7", 0],
  ["-2", "-10", 1],
  ["2", "10", -1],
])("%s against %s", (a, b, order) => {
  expect(Math.sign(compareDecimals(decimal(a), decimal(b)))).toBe(order);
  expect(Math.sign(compareDecimals(decimal(b), decimal(a)))).toBe(0 - order);
});

test.each([
  "",
  ".",
  "-",
  "+",
  "1e",
  "e1",
  "0x10",
  "1_000",
  " 1",
  "1\n",
  "NaN",
  "Infinity",
  "1e9999999999",
  "１",
  "1,5",
])("%j is no number", (text) => {
  expect(parseDecimal(text)).toBeNull();
});

test("numbers are ordered by value, however they are written", () => {
  const scale = fc.integer({ min: 0, max: 40 });
  const power = fc.integer({ min: -30, max: 30 });
  const any = fc.record({ units: fc.bigInt({ min: -(10n ** 45n), max: 10n ** 45n }), scale, power });
  const near = any.chain((a) =>
    fc.tuple(
      fc.constant(a),
      fc.oneof(
        any,
        fc.bigInt({ min: -2n, max: 2n }).map((by) => ({ ...a, units: a.units + by })),
      ),
    ),
  );
  fc.assert(
    fc.property(near, ([a, b]) => {
      const whole = (each: typeof a): bigint => each.units * 10n ** BigInt(40 - each.scale + each.power + 30);
      const text = (each: typeof a): string => `${written(each.units, each.scale)}e${each.power}`;
      const [left, right] = [whole(a), whole(b)];
      const order = left === right ? 0 : left < right ? -1 : 1;
      expect(Math.sign(compareDecimals(decimal(text(a)), decimal(text(b))))).toBe(order);
    }),
    { numRuns: 2_000 },
  );
});

test("a hundred thousand digits are read and compared in no time", () => {
  const zeros = "0".repeat(100_000);
  const used_ms = processorTime_ms(() => {
    expect(compareDecimals(decimal(`1${zeros}1`), decimal(`1${zeros}2`))).toBeLessThan(0);
    expect(compareDecimals(decimal(`0.${zeros}1`), decimal("0"))).toBeGreaterThan(0);
    expect(parseDecimal(`${zeros}x`)).toBeNull();
  });
  expect(used_ms).toBeLessThan(1_000);
});
