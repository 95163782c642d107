import { SchedulePreview } from "@attestore/contract";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../test/service.ts";
import { previewSchedule } from "./preview.ts";

const schedule = (backup_cron: string, timezone: string) => ({
  backup_cron,
  restore_test_cron: null,
  timezone,
});
const shown = (pattern: string, zone: string, from: string) => {
  const { backup } = previewSchedule(schedule(pattern, zone), new Date(from));
  const text = ({ at, clock_change }: SchedulePreviewTime): string =>
    [at.slice(0, 16), clock_change].filter((part) => part !== null).join(" ");
  return { next: backup?.next.map(text), at_clock_changes: backup?.at_clock_changes.map(text) };
};
type SchedulePreviewTime = NonNullable<SchedulePreview["backup"]>["next"][number];

test("a preview has the next five times, and those of the year that a change of the clocks touches", () => {
  expect(shown("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z")).toEqual({
    next: [
      "2026-03-28T01:30",
      "2026-03-29T01:00 shifted",
      "2026-03-30T00:30",
      "2026-03-31T00:30",
      "2026-04-01T00:30",
    ],
    at_clock_changes: ["2026-03-29T01:00 shifted", "2026-10-25T00:30 first_of_two"],
  });
});

test.each([
  // exists on that day, and once
  ["0 3 * * *", "Europe/Berlin"],
  ["0 1 * * *", "Europe/Berlin"],
  // every hour is every hour
  ["*/30 * * * *", "Europe/Berlin"],
  // no change of the clocks, or not on a day that is named
  ["30 2 * * *", "Asia/Kolkata"],
  ["30 2 1 * *", "Europe/Berlin"],
])("%s in %s: nothing to tell of changes of the clocks", (pattern, zone) => {
  expect(shown(pattern, zone, "2026-03-27T12:00:00Z").at_clock_changes).toEqual([]);
});

test("fields that name a time every minute of some hours are not looked through for them", () => {
  const { next, at_clock_changes } = shown("* 0-12 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z");
  expect([next?.length, at_clock_changes?.length]).toEqual([5, 0]);
});

test("a schedule of one day a year is computed fast, in any zone and for both times", () => {
  const computed_ms = (work: () => void): number => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  for (const zone of ["America/New_York", "Antarctica/Troll", "Africa/Casablanca"])
    for (const pattern of ["59 23 31 12 *", "0 2 29 2 *"]) {
      const both = { backup_cron: pattern, restore_test_cron: pattern, timezone: zone };
      expect(computed_ms(() => void previewSchedule(both, new Date("2026-01-01T00:00:00Z")))).toBeLessThan(
        150,
      );
    }
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ clock: () => new Date("2026-11-21T12:00:00Z") });
});
afterAll(() => service.close());

test("the preview answers before a schedule is saved, and reports errors field by field", async () => {
  const org = await service.addOrg();
  const auditor = await service.signIn(org, "auditor");
  const ask = (query: Record<string, string>) =>
    auditor.get(`/api/orgs/${org.id}/schedule-preview?${new URLSearchParams(query)}`);
  const { status, json } = await ask({ restore_test_cron: "0 4 * * sun", timezone: "Europe/Berlin" });
  expect([status, json["backup"]]).toEqual([200, null]);
  expect([...Value.Errors(SchedulePreview, json)]).toEqual([]);
  expect((json as unknown as SchedulePreview).restore_test?.next[0]?.at).toBe("2026-11-22T03:00:00.000Z");
  const wrong = await ask({ backup_cron: "61 2 * * *", restore_test_cron: "0 4 * *", timezone: "Mars/Base" });
  expect(wrong.status).toBe(400);
  const issues = (wrong.json["details"] as { issues: { path: string }[] }).issues;
  expect(issues.map(({ path }) => path)).toEqual([
    "/schedule/backup_cron",
    "/schedule/restore_test_cron",
    "/schedule/timezone",
  ]);
  const stranger = await service.signIn(await service.addOrg());
  expect((await stranger.get(`/api/orgs/${org.id}/schedule-preview`)).status).toBe(404);
});
