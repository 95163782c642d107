import { expect, test } from "vitest";
import { readCron, tidyCron } from "./cron-words.ts";

test.each([
  ["30 2 * * *", "At 02:30, every day"],
  ["0 */6 * * *", "At 00:00, 06:00, 12:00 and 18:00, every day"],
  ["0 * * * *", "Every hour, on the hour, every day"],
  ["*/15 9-17 * * 1-5", "Every 15 minutes from 09:00 to 17:59, Monday through Friday"],
  ["5,35 * * * *", "At minute 5 and 35 of every hour, every day"],
  ["5/20 */5 * * *", "At minute 5, 25 and 45 of every hour in the hours 0, 5, 10, 15 and 20, every day"],
  ["* 3 * * *", "Every minute from 03:00 to 03:59, every day"],
  ["0 3 1,15 * *", "At 03:00, on day 1 and 15 of the month"],
  ["0 3 1-7 */6 *", "At 03:00, on day 1 through 7 of the month, in January and July"],
  // With "and" in place of "or", people would expect fewer runs.
  ["0 3 1 * mon", "At 03:00, on day 1 of the month or on Monday"],
  ["0 3 * * 0,7,sat", "At 03:00, only on Saturday and Sunday"],
  ["0 3 * * fri-7", "At 03:00, Friday through Sunday"],
  ["0 4 * * sun", "At 04:00, only on Sunday"],
  ["  15  3 1 jan-jun *  ", "At 03:15, on day 1 of the month, January through June"],
])('the schedule %s reads "%s"', (pattern, words) => {
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
])("the schedule %s is invalid: %s", (pattern, problem) => {
  expect(readCron(pattern)).toEqual({ is: "wrong", problem });
});

test("an empty schedule and every-minute schedules have their own hints", () => {
  expect(readCron("   ")).toEqual({ is: "empty" });
  expect(readCron("* * * * *")).toMatchObject({ is: "words", everyMinute: true });
});

test("a schedule's fields are sent with single spaces", () => {
  expect(tidyCron("  0   4 * *\tsun ")).toBe("0 4 * * sun");
});
