import { describe, expect, test } from "vitest";
import { answer, describeDays, describeTrend, type Source, spoolText } from "./home.ts";

const NOW = new Date("2026-11-21T08:00:00.000Z");
const ago = (hours: number): string => new Date(NOW.getTime() - hours * 3_600_000).toISOString();

function source(name: string, more: Partial<Source> = {}): Source {
  return {
    id: `src_${name}`,
    slug: name,
    name,
    engine: "postgresql",
    agent_id: "agent_1",
    tags: [],
    environment: null,
    state: "proven",
    concerns: [],
    last_backup_at: ago(2),
    last_proven_at: ago(1),
    proven: true,
    not_proven_because: null,
    failed_at: null,
    objectives: null,
    rpo_met: null,
    rto_met: null,
    next_backup_at: null,
    next_restore_test_at: null,
    running: [],
    days: "-".repeat(30),
    sizes: [],
    restore_times_ms: [],
    ...more,
  };
}

describe("the home page's headline", () => {
  test("says so when all sources are proven", () => {
    expect(answer([source("a"), source("b", { last_proven_at: ago(72) })], NOW)).toEqual({
      headline: "Both sources are proven.",
      sentence: "The oldest current proof is 3 days old.",
    });
    expect(answer([source("a")], NOW)).toEqual({
      headline: "Your source is proven.",
      sentence: "The proof is 1 h old.",
    });
  });

  test("gives the age of the oldest current proof when one source is not proven", () => {
    const stale = source("orders-db", {
      state: "missed",
      concerns: ["restore_test_missed"],
      last_proven_at: ago(9 * 24),
    });
    const sources = [
      stale,
      ...Array.from({ length: 12 }, (_, n) => source(`s${n}`, { last_proven_at: ago(n * 6) })),
    ];
    expect(answer(sources, NOW)).toEqual({
      headline: "12 of 13 sources are proven.",
      sentence: "The oldest current proof is 2 days old.",
    });
  });

  test("counts the proven sources when few are proven", () => {
    const sources = [
      source("a", {
        state: "failed",
        concerns: ["restore_test_failed"],
        failed_at: ago(2),
        last_proven_at: null,
      }),
      source("b", { state: "failed", concerns: ["backup_failed", "agent_silent"], failed_at: ago(5) }),
      source("c", { state: "none", concerns: ["never_backed_up"], last_proven_at: null }),
      source("d", { state: "backed_up", concerns: ["never_proven"], last_proven_at: null }),
      source("e", { state: "backed_up", concerns: ["never_proven"], last_proven_at: null }),
      source("f"),
    ];
    expect(answer(sources, NOW)).toEqual({
      headline: "1 of 6 sources is proven.",
      sentence: "The proof is 1 h old.",
    });
  });

  test("names the worst source and what is wrong with it when none is proven", () => {
    expect(answer([], NOW)).toEqual({ headline: "Nothing is proven yet.", sentence: null });
    const failed = { state: "failed" as const, failed_at: ago(5) };
    const of = (...sources: Source[]) => answer(sources, NOW).sentence;
    expect(of(source("b", { ...failed, concerns: ["backup_failed", "agent_silent"] }))).toBe(
      "b: its last backup failed 5 h ago; last proven 1 h ago.",
    );
    expect(
      of(
        source("a", { ...failed, concerns: ["restore_test_failed"], last_proven_at: null }),
        source("z", failed),
      ),
    ).toBe("a: its last restore test failed 5 h ago; never proven.");
    expect(of(source("c", { state: "none", concerns: ["never_backed_up"], last_proven_at: null }))).toBe(
      "c: it has never been backed up.",
    );
    const never = { state: "backed_up" as const, concerns: ["never_proven" as const], last_proven_at: null };
    expect(answer([source("a", never)], NOW).headline).toBe("Your source is not proven.");
    expect(answer([source("a", never), source("b", never)], NOW).headline).toBe(
      "None of 2 sources is proven.",
    );
  });
});

test("the day strip in words names the days that failed or were missed", () => {
  expect(describeDays(`${"-".repeat(20)}bbpmppppfp`, "2026-10-23")).toBe(
    "Last 30 days: failed on 20 Nov; missed on 15 Nov; 6 proven; 2 backed up only; 20 nothing.",
  );
  expect(describeDays("f".repeat(30), "2026-10-23")).toBe(
    "Last 30 days: failed on 30 days, the last 21 Nov.",
  );
});

test("a spool and a trend have units", () => {
  expect(spoolText({ backups: 1, receipts: 2, events: 0 })).toBe("1 backup, 2 receipts");
  expect(spoolText({ backups: 0, receipts: 0, events: 0 })).toBe("nothing");
  expect(spoolText(null)).toBe("unknown");
  const ms = (value: number): string => `${value} ms`;
  expect([[], [4], [3, 9, 4], [4, 4]].map((values) => describeTrend(values, ms))).toEqual([
    "not measured",
    "4 ms",
    "4 ms; between 3 ms and 9 ms over the last 30 days",
    "4 ms; the same over the last 30 days",
  ]);
});
