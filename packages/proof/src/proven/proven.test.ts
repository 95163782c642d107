import { describe, expect, test } from "vitest";
import { DEFAULT_RPO_S, PROOF_AGE_S } from "./not-proven-because.ts";
import { ProofHistory } from "./proof-history.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** `backup` makes one, `passed` and `failed` test one: hours, and which. */
type Step = [hour: number, what: "backup" | "passed" | "failed", id: string];

function judged(steps: readonly Step[], nowHour: number, rpo_s?: number): string | null {
  const history = new ProofHistory();
  for (const [hour, what, id] of steps) {
    if (what === "backup") history.addBackup(id, hour * HOUR);
    else history.addTest({ backupId: id, result: what, at: hour * HOUR });
  }
  return history.notProvenBecause(nowHour * HOUR, rpo_s);
}

const B1: Step = [0, "backup", "b1"];
const B2: Step = [24, "backup", "b2"];

describe("a source is proven", () => {
  test.each<[string, Step[], number, string | null]>([
    ["never without a backup", [], 0, "never_backed_up"],
    ["never without a restore test", [B1], 1, "never_proven"],
    ["while its newest backup has passed", [B1, [1, "passed", "b1"]], 100, null],
    ["for a week after the test", [B1, [1, "passed", "b1"]], 1 + 168, null],
    ["not 400 days after the test, schedule or not", [B1, [1, "passed", "b1"]], 400 * 24, "proof_too_old"],
    ["while one within the RPO has passed", [B1, [1, "passed", "b1"], B2], 36, null],
    ["not by one older than the RPO", [B1, [1, "passed", "b1"], B2], 37, "newest_not_proven"],
    [
      "not by a pass of an old backup after the newest one's failure",
      [B1, B2, [25, "failed", "b2"], [26, "passed", "b1"]],
      27,
      "restore_test_failed",
    ],
    [
      "not by the newest one's pass from before its failure",
      [B1, [1, "passed", "b1"], [2, "failed", "b1"]],
      3,
      "restore_test_failed",
    ],
    [
      "not by a pass that came late",
      [B1, [2, "failed", "b1"], [1, "passed", "b1"]],
      3,
      "restore_test_failed",
    ],
    ["again when the one that failed passes", [B1, [2, "failed", "b1"], [3, "passed", "b1"]], 4, null],
    [
      "again when a newer one passes than the one that failed",
      [B1, [2, "failed", "b1"], B2, [25, "passed", "b2"]],
      26,
      null,
    ],
    [
      "not when an old one failed since, until one as new as any that failed has passed",
      [B1, B2, [25, "passed", "b2"], [26, "failed", "b1"]],
      27,
      "restore_test_failed",
    ],
    ["not by a test of a backup that nobody knows", [B1, [1, "passed", "b0"]], 2, "proof_too_old"],
  ])("%s", (_, steps, now, because) => {
    expect(judged(steps, now)).toBe(because);
  });

  test("by a test of a backup within its own RPO", () => {
    const steps: Step[] = [B1, [1, "passed", "b1"], B2];
    expect(judged(steps, 37, 48 * 3600)).toBeNull();
    expect(judged(steps, 25, 24 * 3600)).toBe("newest_not_proven");
  });

  test("by a recent test of an older backup within the RPO if the newest backup's test is too old", () => {
    const steps: Step[] = [B1, B2, [25, "passed", "b2"], [170, "passed", "b1"]];
    expect(judged(steps, 200, 10 * 86_400)).toBeNull();
    expect(judged(steps, 200, 86_400)).toBe("newest_not_proven");
  });

  test("by the defaults of 36 hours and 7 days if nothing is set", () => {
    expect([DEFAULT_RPO_S * 1000, PROOF_AGE_S * 1000]).toEqual([1.5 * DAY, 7 * DAY]);
  });
});
