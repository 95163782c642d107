import { describe, expect, test } from "vitest";
import type { SourceProof } from "../sources/read-proofs.ts";
import { stripOf } from "./day-strip.ts";
import { judgeSource, type Known, worstFirst } from "./source-state.ts";

const NOW = new Date("2026-11-21T08:00:00Z");
const not = (because: SourceProof["because"]) => ({ because, failedAt: null });
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * 3_600_000);
const PROVEN = {
  last_backup_at: ago(6),
  last_proven_at: ago(5),
  tested_at: ago(5),
  objectives: null,
  proof: { because: null, failedAt: null },
};
const QUIET: Known = {
  failures: [],
  open: [],
  schemaDrift: false,
  environmentDrift: false,
  restore_ms: null,
  agents: ["active"],
};
const failure = (kind: Known["failures"][number]["kind"], hours: number) => ({
  kind,
  at: ago(hours),
  day: ago(hours).toISOString().slice(0, 10),
});

describe("the state of a source", () => {
  test.each([
    ["a proof that counts", {}, {}, "proven", []],
    [
      "nothing at all",
      { last_backup_at: null, last_proven_at: null, tested_at: null, proof: not("never_backed_up") },
      {},
      "none",
      ["never_backed_up"],
    ],
    [
      "a backup that nobody tested",
      { last_proven_at: null, tested_at: null, proof: not("never_proven") },
      {},
      "backed_up",
      ["never_proven"],
    ],
    [
      "a test that failed after one that passed",
      { tested_at: ago(1), proof: { because: "restore_test_failed" as const, failedAt: ago(1) } },
      {},
      "failed",
      ["restore_test_failed"],
    ],
    [
      "a test that failed, and a backup and a test that could not be done since",
      { proof: { because: "restore_test_failed" as const, failedAt: ago(3) } },
      { failures: [failure("backup_failed", 1), failure("restore_failed", 2)] },
      "failed",
      ["restore_test_failed", "restore_could_not_run", "backup_failed"],
    ],
    [
      "a test that could not run since",
      {},
      { failures: [failure("restore_failed", 1)] },
      "failed",
      ["restore_could_not_run"],
    ],
    [
      "a test that could not run, and then did",
      {},
      { failures: [failure("restore_failed", 7)] },
      "proven",
      [],
    ],
    [
      "a test that could not run, then did, and then the result of an older one came",
      { tested_at: ago(9) },
      { failures: [failure("restore_failed", 7)] },
      "proven",
      [],
    ],
    [
      "a backup that failed since the last one",
      {},
      { failures: [failure("backup_failed", 1)] },
      "failed",
      ["backup_failed"],
    ],
    [
      "a backup that failed before the last one",
      {},
      { failures: [failure("backup_failed", 7)] },
      "proven",
      [],
    ],
    [
      "an attestation that failed",
      {},
      { failures: [failure("attestation_failed", 1)] },
      "failed",
      ["attestation_failed"],
    ],
    [
      "a missed restore test",
      {},
      { open: ["restore_test_missed" as const] },
      "missed",
      ["restore_test_missed"],
    ],
    ["a missed backup", {}, { open: ["backup_missed" as const] }, "missed", ["backup_missed"]],
    ["a backup older than the RPO", { objectives: { rpo_s: 5 * 3600 } }, {}, "missed", ["rpo_exceeded"]],
    ["a backup as old as the RPO", { objectives: { rpo_s: 6 * 3600 } }, {}, "proven", []],
    [
      "a restore slower than the RTO",
      { objectives: { rto_s: 60 } },
      { restore_ms: 60_001 },
      "proven",
      ["rto_exceeded"],
    ],
    [
      "a proof of eight days, whether a schedule asked for it or not",
      { last_proven_at: ago(8 * 24), proof: not("proof_too_old") },
      {},
      "backed_up",
      ["proof_too_old"],
    ],
    [
      "a newest backup that no test has passed for longer than the RPO",
      { proof: not("newest_not_proven") },
      {},
      "backed_up",
      ["newest_not_proven"],
    ],
    [
      "drift and a silent agent",
      {},
      { schemaDrift: true, agents: ["active" as const, "silent" as const] },
      "proven",
      ["agent_silent", "schema_drift"],
    ],
  ])("%s", (_, source, known, state, concerns) => {
    const judged = judgeSource({ ...PROVEN, ...source }, { ...QUIET, ...known }, NOW);
    expect(judged).toMatchObject({ state, concerns });
  });

  test("gives the time of the latest failure", () => {
    const known = { ...QUIET, failures: [failure("backup_failed", 2), failure("restore_failed", 1)] };
    expect(judgeSource(PROVEN, known, NOW)).toEqual({
      state: "failed",
      concerns: ["restore_could_not_run", "backup_failed"],
      failedAt: ago(1),
    });
  });

  test("the worst state is first, then the oldest proof", () => {
    const source = (
      slug: string,
      state: "failed" | "missed" | "none" | "backed_up" | "proven",
      hours: number | null,
    ) => ({
      slug,
      state,
      last_proven_at: hours === null ? null : ago(hours).toISOString(),
    });
    const sources = [
      source("a", "proven", 1),
      source("b", "proven", 9),
      source("c", "backed_up", null),
      source("d", "none", null),
      source("f", "failed", 3),
      source("e", "failed", 3),
      source("g", "missed", 2),
    ];
    expect(
      sources
        .toSorted(worstFirst)
        .map(({ slug }) => slug)
        .join(""),
    ).toBe("efgdcba");
  });
});

test("each day shows its worst result, and results outside the strip are ignored", () => {
  const strip = { first: "2026-10-23", days: 30 };
  const receipts = [
    [0, "b"],
    [1, "p"],
    [2, "f"],
    [3, "p"],
    [4, "b"],
    [29, "p"],
    [31, "p"],
  ]
    .map(([day, letter]) => String.fromCharCode(48 + Number(day)) + letter)
    .join("");
  const missed = ["2026-10-24", "2026-10-25", "2026-10-28", "2026-10-22"];
  const failures = [
    failure("backup_failed", 24),
    { kind: "restore_failed" as const, at: ago(0), day: "2026-11-22" },
  ];
  expect(stripOf(strip, receipts, missed, failures)).toBe(`bmfpbm${"-".repeat(22)}fp`);
});
