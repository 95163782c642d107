import { expect, test } from "vitest";
import { formatRun } from "./format-run.ts";

test.each([
  ["2026-03-28T01:30:00Z", "Europe/Berlin", "Sat, 28 Mar 2026, 02:30 (Europe/Berlin, UTC+01:00)"],
  ["2026-03-29T01:00:00Z", "Europe/Berlin", "Sun, 29 Mar 2026, 03:00 (Europe/Berlin, UTC+02:00)"],
  ["2026-01-05T12:00:00Z", "Europe/London", "Mon, 5 Jan 2026, 12:00 (Europe/London, UTC+00:00)"],
  ["2026-01-05T12:00:00Z", "Asia/Kolkata", "Mon, 5 Jan 2026, 17:30 (Asia/Kolkata, UTC+05:30)"],
  ["2026-01-05T12:00:00Z", "UTC", "Mon, 5 Jan 2026, 12:00 (UTC)"],
])("a run at %s in %s names the day, the time and the offset from UTC", (at, zone, words) =>
  expect(formatRun(new Date(at), zone)).toBe(words),
);
