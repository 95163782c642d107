import { expect, test } from "vitest";
import { readCron, tidyCron } from "./cron-words.ts";

test.each([
  ["30 2 * * *", "At 02:30, every day"],
  ["0 */6 * * *", "On the hour, every 6 hours, every day"],
  ["0 4 * * sun", "At 04:00, only on Sunday"],
  ["  15  3 1 jan-jun *  ", "At 03:15, on day 1 of the month, January through June"],
])("%s: %s", (pattern, words) => {
  expect(readCron(pattern)).toEqual({ is: "words", words, everyMinute: false });
});

test.each([
  ["30 2 * *", "Five fields are needed, separated by spaces; there are 4."],
  ["0 25 * * *", "The hour, “25”, goes from 0 to 23."],
  ["60 2 * * *", "The minute, “60”, goes from 0 to 59."],
  ["0 2 0 * *", "The day of month, “0”, goes from 1 to 31."],
  ["0 2 * * 5-1", "The day of week, “5-1”, is a range that ends before it begins."],
  [
    "0 2 * * fun",
    "The day of week, “fun”, is not valid; use numbers, *, lists (1,2), ranges (1-5) and steps (*/2).",
  ],
  ["*/0 2 * * *", "The minute, “*/0”, has a step that is not a number of 1 or more."],
  ["@daily", "Five fields are needed, separated by spaces; there are 1."],
  [
    "0 2 L * *",
    "The day of month, “L”, is not valid; use numbers, *, lists (1,2), ranges (1-5) and steps (*/2).",
  ],
])("%s is invalid: %s", (pattern, problem) => {
  expect(readCron(pattern)).toEqual({ is: "wrong", problem });
});

test("an empty schedule and every-minute schedules have their own hints", () => {
  expect(readCron("   ")).toEqual({ is: "empty" });
  expect(readCron("* * * * *")).toMatchObject({ is: "words", everyMinute: true });
});

test("fields are sent with single spaces", () => {
  expect(tidyCron("  0   4 * *\tsun ")).toBe("0 4 * * sun");
});
