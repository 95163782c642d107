import type { ScheduledRun } from "@attestore/proof";
import { expect, test } from "vitest";
import { ListedRuns } from "./listed-runs.ts";

const at = (minutes: number): string => new Date(Date.UTC(2026, 10, 20, 0, minutes)).toISOString();
const run = (source_id: string, minutes: number, kind: ScheduledRun["kind"] = "backup"): ScheduledRun => ({
  source_id,
  kind,
  scheduled_at: at(minutes),
  deadline_at: at(minutes + 10),
  status: "missed",
  receipt_id: null,
  event_id: null,
});

test("runs are found by source, kind and time, in whatever order they were listed", () => {
  const runs = new ListedRuns();
  for (const each of [run("a", 5), run("b", 0), run("a", 0), run("a", 5, "restore_test"), run("a", 20)])
    runs.add(each);
  const has = (source_id: string, kind: ScheduledRun["kind"], minutes: number): boolean =>
    runs.has({ source_id, kind }, Date.parse(at(minutes)));
  expect([has("a", "backup", 0), has("a", "backup", 5), has("a", "backup", 20)]).toEqual([true, true, true]);
  expect([has("b", "backup", 0), has("a", "restore_test", 5)]).toEqual([true, true]);
  expect([has("a", "backup", 1), has("b", "backup", 5), has("a", "restore_test", 0)]).toEqual([
    false,
    false,
    false,
  ]);
  expect([has("c", "backup", 0), has("b", "restore_test", 0)]).toEqual([false, false]);
  const key = { source_id: "a", kind: "backup" } as const;
  expect(runs.hasTime(key, at(5))).toBe(true);
  // Only the one spelling of a time that packs have.
  expect([runs.hasTime(key, at(5).replace(".000Z", "Z")), runs.hasTime(key, "soon")]).toEqual([false, false]);
  expect(runs.countBetween(key, at(0), at(30))).toBe(3);
  expect(runs.countBetween(key, at(1), at(30))).toBe(2);
  expect(runs.countBetween(key, at(0), at(29))).toBe(2);
  runs.add(run("a", 1));
  expect([has("a", "backup", 1), runs.countBetween(key, at(0), at(29)), runs.count]).toEqual([true, 3, 6]);
});
