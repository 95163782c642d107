import type { Retention } from "@attestore/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planRetention, type Candidate } from "./plan.ts";
import { keepReasons, type Kept } from "./keep-rules.ts";

const DAY_MS = 86_400_000;
const backup = (id: string, at: string): Kept => ({ id, at: new Date(at) });

/** One a day, at noon, named by their day. */
const daily = (from: string, days: number): Kept[] =>
  Array.from({ length: days }, (_, n) => {
    const at = new Date(Date.parse(`${from}T12:00:00Z`) + n * DAY_MS);
    return { id: at.toISOString().slice(0, 10), at };
  });

const kept = (backups: Kept[], rules: Retention, zone = "UTC"): string[] =>
  [...keepReasons(backups, rules, zone).keys()].toSorted();

describe("each rule", () => {
  const year = daily("2026-01-01", 365);

  test.each([
    [{ keep_last: 3 }, ["2026-12-29", "2026-12-30", "2026-12-31"]],
    [{ keep_days: 2 }, ["2026-12-30", "2026-12-31"]],
    [{ keep_daily: 2 }, ["2026-12-30", "2026-12-31"]],
    // The newest of the ISO weeks 53, 52 and 51, which end on Sundays.
    [{ keep_weekly: 3 }, ["2026-12-20", "2026-12-27", "2026-12-31"]],
    [{ keep_monthly: 3 }, ["2026-10-31", "2026-11-30", "2026-12-31"]],
    // Two years are asked for and there is one: the oldest stays, as in restic and borg.
    [{ keep_yearly: 2 }, ["2026-01-01", "2026-12-31"]],
    [{ keep_last: 1, keep_monthly: 2 }, ["2026-11-30", "2026-12-31"]],
  ] as [Retention, string[]][])("%j", (rules, expected) => {
    expect(kept(year, rules)).toEqual(expected);
  });

  test("counts periods that have a backup, not those that have none", () => {
    const sparse = [
      backup("a", "2024-03-01T00:00:00Z"),
      backup("b", "2025-07-01T00:00:00Z"),
      backup("c", "2026-01-01T00:00:00Z"),
    ];
    expect(kept(sparse, { keep_daily: 2 })).toEqual(["b", "c"]);
  });

  test("goes by the days of the source's time zone", () => {
    // 23:30 and 00:30 of the next day in Berlin; one day in UTC.
    const night = [
      backup("late", "2026-01-10T22:30:00Z"),
      backup("early", "2026-01-10T23:30:00Z"),
      backup("old", "2026-01-01T00:00:00Z"),
    ];
    expect(kept(night, { keep_daily: 2 }, "UTC")).toEqual(["early", "old"]);
    expect(kept(night, { keep_daily: 2 }, "Europe/Berlin")).toEqual(["early", "late"]);
  });

  test("knows that the first days of a year may belong to the last week of the one before", () => {
    const turn = [
      backup("dec", "2026-12-31T12:00:00Z"),
      backup("jan", "2027-01-03T12:00:00Z"),
      backup("next", "2027-01-04T12:00:00Z"),
      backup("old", "2026-12-01T12:00:00Z"),
    ];
    expect(keepReasons(turn, { keep_weekly: 3 }, "UTC").get("jan")).toEqual([
      { rule: "keep_weekly", period: "2026-W53" },
    ]);
    expect(kept(turn, { keep_weekly: 2 })).toEqual(["jan", "next"]);
  });
});

const candidates = fc
  .uniqueArray(
    fc.record({
      hours: fc.integer({ min: 0, max: 24 * 1200 }),
      proof: fc.constantFrom("none", "passed", "failed since", "suspicious", "clean since"),
      id: fc.integer({ min: 0, max: 1_000_000 }),
    }),
    { maxLength: 60, selector: ({ id }) => id },
  )
  .map((list): Candidate[] =>
    list.map(({ hours, proof, id }) => {
      const at = new Date(Date.parse("2023-01-01T00:00:00Z") + hours * 3_600_000);
      return {
        id: `bkp_${String(id).padStart(8, "0")}`,
        at,
        provenAt: proof === "none" ? null : at,
        failedAt: proof === "failed since" ? new Date(at.getTime() + 1) : null,
        suspiciousAt:
          proof === "suspicious" ? at : proof === "clean since" ? new Date(at.getTime() - 1) : null,
        sizeBytes: 1,
        madeAt: at,
        sha256: Buffer.alloc(32),
        keptAt: null,
        expiresAt: null,
        toldAt: null,
      };
    }),
  );
const count = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
const rules = fc
  .record({
    keep_last: count,
    keep_days: count,
    keep_daily: count,
    keep_weekly: count,
    keep_monthly: count,
    keep_yearly: count,
  })
  .map(
    (given) =>
      Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Retention,
  );
const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia");

/**
 * restic's and borg's rules said another way: for each rule the periods are listed, and then the
 * newest of each taken.
 */
function model(
  backups: readonly Candidate[],
  { keep_last = 0, keep_days = 0, ...periods }: Retention,
  in_: string,
): Set<string> {
  const sorted = backups.toSorted((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
  const ids = new Set(sorted.slice(0, keep_last).map(({ id }) => id));
  const newest = sorted[0]?.at.getTime() ?? 0;
  for (const { id, at } of sorted)
    if (keep_days > 0 && newest - at.getTime() < keep_days * DAY_MS) ids.add(id);
  const local = (at: Date): string =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: in_, dateStyle: "short" }).format(at);
  const monday = (day: string): string => {
    const date = new Date(`${day}T00:00:00Z`);
    return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
  };
  const nameOf: Record<string, (day: string) => string> = {
    keep_daily: (day) => day,
    keep_weekly: monday,
    keep_monthly: (day) => day.slice(0, 7),
    keep_yearly: (day) => day.slice(0, 4),
  };
  for (const [rule, wanted] of Object.entries(periods)) {
    const newestOf = new Map<string, string>();
    for (const { id, at } of sorted) {
      const name = nameOf[rule]?.(local(at)) ?? "";
      if (!newestOf.has(name)) newestOf.set(name, id);
    }
    for (const id of [...newestOf.values()].slice(0, wanted)) ids.add(id);
    const oldest = sorted.at(-1);
    if (oldest !== undefined && newestOf.size < (wanted ?? 0)) ids.add(oldest.id);
  }
  return ids;
}

const keptBy = (
  backups: readonly Candidate[],
  given: Retention,
  in_: string,
  needed: string[] = [],
): Set<string> =>
  new Set(
    planRetention({ backups, rules: given, zone: in_, needed: new Set(needed) })
      .filter(({ reasons }) => reasons.length > 0)
      .map(({ backup: { id } }) => id),
  );

describe("for all backups and rules", () => {
  test("the rules keep the same backups as the model", () => {
    fc.assert(
      fc.property(candidates, rules, zone, (backups, given, in_) => {
        expect(new Set(keepReasons(backups, given, in_).keys())).toEqual(model(backups, given, in_));
      }),
      { numRuns: 400 },
    );
  });

  test("the newest proven one stays, the newest that has not failed since, the newest clean one, and whatever a command needs", () => {
    fc.assert(
      fc.property(candidates, rules, zone, fc.nat(), (backups, given, in_, index) => {
        const needed = backups.length === 0 ? [] : [backups[index % backups.length]?.id ?? ""];
        const ids = keptBy(backups, given, in_, needed);
        for (const id of needed) expect(ids.has(id)).toBe(true);
        const ever = backups.filter(({ provenAt }) => provenAt !== null);
        const still = ever.filter(({ failedAt }) => failedAt === null);
        const clean = still.filter(({ suspiciousAt, at }) => suspiciousAt === null || suspiciousAt < at);
        for (const proven of [ever, still, clean]) {
          const newest = Math.max(...proven.map(({ at }) => at.getTime()));
          if (proven.length > 0)
            expect(proven.some(({ id, at }) => at.getTime() === newest && ids.has(id))).toBe(true);
        }
      }),
    );
  });

  test("the newest one stays, and without a rule that keeps something all of them", () => {
    fc.assert(
      fc.property(candidates, rules, zone, (backups, given, in_) => {
        const ids = keptBy(backups, given, in_);
        if (Object.values(given).every((value) => value === 0)) expect(ids.size).toBe(backups.length);
        const newest = backups.toSorted(
          (a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1),
        )[0];
        if (newest !== undefined) expect(ids.has(newest.id)).toBe(true);
      }),
    );
    expect(planRetention({ backups: [], rules: null, zone: "UTC", needed: new Set() })).toEqual([]);
  });

  test("a second run over the remaining backups removes nothing more, even if the first was cut off", () => {
    fc.assert(
      fc.property(candidates, rules, zone, fc.nat(), (backups, given, in_, cut) => {
        const ids = keptBy(backups, given, in_);
        const going = backups
          .filter(({ id }) => !ids.has(id))
          .toSorted((a, b) => a.at.getTime() - b.at.getTime());
        const gone = new Set(
          going.slice(0, going.length === 0 ? 0 : cut % (going.length + 1)).map(({ id }) => id),
        );
        const left = backups.filter(({ id }) => !gone.has(id));
        expect(keptBy(left, given, in_)).toEqual(ids);
      }),
      { numRuns: 300 },
    );
  });

  test("more of a rule never keeps less", () => {
    fc.assert(
      fc.property(candidates, rules, zone, (backups, given, in_) => {
        const more = Object.fromEntries(Object.entries(given).map(([rule, value]) => [rule, value + 1]));
        const ids = new Set(keepReasons(backups, more, in_).keys());
        const oldest = backups.toSorted(
          (a, b) => a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1),
        )[0];
        // The oldest only stands in for periods that are not there yet.
        for (const id of keepReasons(backups, given, in_).keys())
          if (id !== oldest?.id) expect(ids.has(id)).toBe(true);
      }),
    );
  });
});
