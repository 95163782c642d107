import { expect, it } from "vitest";
import { parseRate, untilWindow_ms, uploadConfig } from "./upload-config.ts";

function windowsOf(...windows: string[]) {
  const issues: string[] = [];
  const config = uploadConfig({ windows }, (path, message) => issues.push(`${path.join(".")} ${message}`));
  return { windows: config.windows, issues };
}

/** This host's clock, on a day without a change of it. */
const at = (time: string): Date => new Date(`2026-03-10T${time}`);
const MINUTE_MS = 60_000;

it.each([
  ["10:00:00", 0],
  ["11:59:59", 0],
  ["12:00:00", 22 * 60 * MINUTE_MS],
  ["09:59:00", MINUTE_MS],
  ["09:59:59.500", 500],
])("opens a window by day at %s in %i ms", (time, wait_ms) => {
  expect(untilWindow_ms(windowsOf("10:00-12:00").windows, at(time))).toBe(wait_ms);
});

it.each([
  ["22:00:00", 0],
  ["23:59:59", 0],
  ["00:00:00", 0],
  ["05:59:59", 0],
  ["06:00:00", 16 * 60 * MINUTE_MS],
  ["21:00:00", 60 * MINUTE_MS],
])("opens a window over midnight at %s in %i ms", (time, wait_ms) => {
  expect(untilWindow_ms(windowsOf("22:00-06:00").windows, at(time))).toBe(wait_ms);
});

it("an upload starts in the next of several windows, and at any time where none is set", () => {
  const { windows } = windowsOf("12:00-13:00", "22:00 - 24:00");
  expect(untilWindow_ms(windows, at("13:00:00"))).toBe(9 * 60 * MINUTE_MS);
  expect(untilWindow_ms(windows, at("23:59:00"))).toBe(0);
  expect(untilWindow_ms(windows, at("00:00:00"))).toBe(12 * 60 * MINUTE_MS);
  expect(untilWindow_ms([], at("03:00:00"))).toBe(0);
});

it("the agent never waits less than until the window opens, whatever the clock does in between", () => {
  // Each moment of two days: whoever waits as told is let in, or told a shorter time.
  const { windows } = windowsOf("02:15-02:45");
  const start = at("00:00:00").getTime();
  for (let moment = start; moment < start + 2 * 86_400_000; moment += 7 * MINUTE_MS) {
    const wait_ms = untilWindow_ms(windows, new Date(moment));
    expect(wait_ms).toBeLessThan(86_400_000);
    expect(untilWindow_ms(windows, new Date(moment + wait_ms))).toBe(0);
  }
});

it.each(["25:00-26:00", "10:00", "10:00-10:00", "24:30-25:00", "1:00-2:00"])(
  "the agent refuses the window %s",
  (text) => {
    expect(windowsOf(text).issues).toHaveLength(1);
  },
);

it.each([
  ["20MB", 20e6],
  ["500kB/s", 500e3],
  ["1.5M", 1.5e6],
  ["4096", 4096],
  ["999", null],
  ["-5MB", null],
  ["fast", null],
])("reads the rate %s", (text, rate) => {
  expect(parseRate(text)).toBe(rate);
});
