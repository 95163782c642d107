import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { measureValue } from "./measure-value.ts";

const DAY = Date.parse("2026-11-23");

/** As good as random, and the same in each run: 2 % of real draws of 100 bytes do not look so. */
const ENCRYPTED = createHash("shake256", { outputLength: 100 }).update("measure-value").digest();

test("texts, bytes, times and numbers are told apart, and days are found in texts", () => {
  expect(measureValue("chairs")).toMatchObject({ value: "chairs", text: { bytes: 6, isRandom: false } });
  expect(measureValue("chä", 5000).text?.bytes).toBe(5000);
  expect(measureValue(ENCRYPTED)).toMatchObject({ text: { bytes: 100, isRandom: true } });
  expect(measureValue(new Uint8Array(0)).text).toMatchObject({ bytes: 0, isRandom: false });
  expect(measureValue(new Date(DAY))).toEqual({ value: String(DAY), at_ms: DAY });
  for (const text of ["2026-11-23", "2026-11-23 10:00:00", "2026-11-23T10:00:00.123Z"])
    expect(measureValue(text)).toMatchObject({ at_ms: DAY, text: {} });
  for (const text of ["2026-11-234", "2026-11-23-a", "on 2026-11-23", `2026-11-23 ${"x".repeat(50)}`])
    expect(measureValue(text).at_ms).toBeUndefined();
  for (const value of [1, 9223372036854775807n, 0.5, true])
    expect(measureValue(value)).toEqual({ value: String(value) });
});
