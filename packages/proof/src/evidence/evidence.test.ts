import { describe, expect, it } from "vitest";
import { backupStatement, restoreTestStatement } from "../../test/receipt-fixture.ts";
import { ProofError } from "../proof-error.ts";
import { fromUtf8, utf8 } from "../bytes.ts";
import type { Statement } from "../receipts/statement.ts";
import { EVIDENCE_FORMAT, manifestNoteText } from "./pack-files.ts";
import { indexPage } from "./index-page.ts";
import { duration, escaped } from "./index-parts.ts";
import { parseLogRange } from "./log-range.ts";
import {
  isPackPath,
  MANIFEST_END,
  manifestBegin,
  manifestLine,
  parseManifest,
  UnknownFormat,
  type PackHeader,
} from "./manifest.ts";
import type { PackPolicy } from "./policy.ts";
import { formatRuns, parseRuns, type ScheduledRun } from "./scheduled-run.ts";
import { EvidenceTally } from "./tally.ts";
import type { EvidenceSummary } from "./summary.ts";
import { parseCheckpoint } from "../notes/checkpoint.ts";

const sample = backupStatement();
const { org_id, source_id, agent_id } = sample.predicate;
const at = (hour: number): string => new Date(Date.UTC(2026, 10, 1, hour)).toISOString();

const header: PackHeader = {
  format: EVIDENCE_FORMAT,
  generator: "a test",
  org_id,
  period: { from: at(24), to: at(72) },
  exported_at: at(80),
  log: { origin: `log.test/${org_id}`, tree_size: 7, root_hash: "ab".repeat(32) },
};

const policy = (more: Partial<PackPolicy["sources"][0]> = {}): PackPolicy => ({
  v: 1,
  org: { id: org_id, name: "Example" },
  sources: [
    {
      id: source_id,
      slug: "orders",
      name: "Orders",
      engine: "postgresql",
      agent_id,
      test_agent_id: null,
      created_at: at(0),
      removed_at: null,
      schedule: null,
      retention: null,
      objectives: { rpo_s: 20 * 3600, rto_s: 60 },
      ...more,
    },
  ],
});

function backup(started: number, finished = started): Statement {
  const statement = backupStatement();
  Object.assign(statement.predicate, { started_at: at(started), finished_at: at(finished) });
  return statement;
}

function restoreTest(result: "passed" | "failed", phases?: object): Statement {
  const statement = restoreTestStatement();
  Object.assign(statement.predicate, { result, ...(phases === undefined ? {} : { phases }) });
  return statement;
}

const summaryOf = (
  receipts: readonly [number, Statement][],
  {
    before,
    runs = [],
    more,
  }: { before?: Statement; runs?: ScheduledRun[]; more?: Partial<PackPolicy["sources"][0]> } = {},
): EvidenceSummary => {
  const tally = new EvidenceTally(header, policy(more));
  if (before !== undefined) tally.addBackupBefore(before);
  for (const [hour, statement] of receipts)
    tally.addReceipt({ id: `rcpt_${hour}`, recordedAt: at(hour), statement });
  for (const run of runs) tally.addRun(run);
  return tally.finish();
};

const sourceOf = ({ sources }: EvidenceSummary) => sources[0] ?? expect.unreachable();

describe("the recovery point", () => {
  it("is the longest time from one backup's beginning to the next one's end, up to the period's end", () => {
    const summary = summaryOf(
      [
        [30, backup(29, 30)],
        [50, backup(48, 50)],
      ],
      { before: backup(20, 21) },
    );
    // From 20 to 30, from 29 to 50, from 48 to 72.
    expect(sourceOf(summary).rpo).toEqual({ objective_s: 20 * 3600, achieved_s: 24 * 3600, met: false });
  });

  it("counts from the period's or the source's beginning if there was no earlier backup", () => {
    const receipts: [number, Statement][] = [[60, backup(60)]];
    expect(sourceOf(summaryOf(receipts)).rpo.achieved_s).toBe(36 * 3600);
    expect(sourceOf(summaryOf(receipts, { more: { created_at: at(58) } })).rpo).toMatchObject({
      achieved_s: 12 * 3600,
      met: true,
    });
  });

  it("ends with the source", () => {
    const more = { removed_at: at(40) };
    expect(sourceOf(summaryOf([[30, backup(30)]], { more })).rpo.achieved_s).toBe(10 * 3600);
  });

  it("counts from the recording of the receipt if the host's clock is ahead", () => {
    const ahead = backup(5000, 5001);
    expect(sourceOf(summaryOf([[30, ahead]], { before: backup(24) })).rpo).toMatchObject({
      achieved_s: 42 * 3600,
      met: false,
    });
    // From before the period's beginning, at 24.
    expect(sourceOf(summaryOf([[50, backup(48, 50)]], { before: ahead })).rpo.achieved_s).toBe(26 * 3600);
  });

  it("misses its objective if there is no backup", () => {
    expect(sourceOf(summaryOf([])).rpo).toMatchObject({ achieved_s: null, met: false });
    expect(sourceOf(summaryOf([], { more: { objectives: null } })).rpo.met).toBeNull();
  });
});

describe("proven at the end", () => {
  const of = (statement: Statement, backup_id: string): Statement => {
    Object.assign(statement.predicate, { backup_id });
    return statement;
  };
  const tested = (result: "passed" | "failed", hour: number, id: string): Statement => {
    const statement = of(restoreTest(result), id);
    Object.assign(statement.predicate, { finished_at: at(hour) });
    return statement;
  };
  const [OLD, NEWEST] = ["bkp_old", "bkp_newest"];
  const both: [number, Statement][] = [
    [30, of(backup(30), OLD)],
    [40, of(backup(40), NEWEST)],
  ];

  it("is a source whose newest backup passed, and not one with a failure that only an older backup's pass followed", () => {
    const passed = sourceOf(summaryOf([...both, [41, tested("passed", 41, NEWEST)]]));
    expect(passed.proof).toEqual({ proven: true, because: null });
    const failed = summaryOf([...both, [41, tested("failed", 41, NEWEST)], [42, tested("passed", 42, OLD)]]);
    expect(sourceOf(failed)).toMatchObject({
      proof: { proven: false, because: "restore_test_failed" },
      last_passed_at: at(42),
    });
    expect(failed.not_proven[0]).toContain("Not proven at the end of the period");
    expect(indexPage(failed, "a test")).toContain("a failed restore test stood");
  });

  it("depends on the RPO, and ignores backups that are not in the pack", () => {
    const old = [...both, [41, tested("passed", 41, OLD)]] as [number, Statement][];
    expect(sourceOf(summaryOf(old)).proof.because).toBe("newest_not_proven");
    expect(sourceOf(summaryOf(old, { more: { objectives: { rpo_s: 48 * 3600 } } })).proof.proven).toBe(true);
    const unknown = summaryOf([...both, [41, tested("passed", 41, "bkp_unknown")]]);
    expect(sourceOf(unknown).proof.proven).toBe(false);
  });
});

describe("the recovery time", () => {
  const phases = { download_ms: 1000, decrypt_ms: 500, restore_ms: 40_000, checks_ms: 90_000 };

  it("is the slowest restore of a test that passed, without its checks", () => {
    const slow = { ...phases, restore_ms: 500_000 };
    const summary = summaryOf([
      [30, restoreTest("passed", phases)],
      [31, restoreTest("failed", slow)],
    ]);
    expect(sourceOf(summary).rto).toEqual({ objective_s: 60, achieved_s: 42, met: true });
    expect(sourceOf(summary).restore_tests).toEqual({ passed: 1, failed: 1 });
    expect(summary.exceptions.items).toMatchObject([{ what: "restore_test_failed", id: "rcpt_31" }]);
  });

  it("is unknown if no restore test passed", () => {
    expect(sourceOf(summaryOf([[30, restoreTest("failed", phases)]])).rto).toMatchObject({
      achieved_s: null,
      met: null,
    });
  });
});

const run = (n: number, status: ScheduledRun["status"]): ScheduledRun => ({
  source_id,
  kind: "restore_test",
  scheduled_at: new Date(Date.UTC(2026, 10, 2, 0, n)).toISOString(),
  deadline_at: new Date(Date.UTC(2026, 10, 2, 2, n)).toISOString(),
  status,
  receipt_id: null,
  event_id: null,
});

describe("a summary", () => {
  it("counts all runs, and lists 500 of them", () => {
    const runs = Array.from({ length: 600 }, (_, n) => run(n, n % 3 === 0 ? "missed" : "passed"));
    const { totals, scheduled_restore_tests: tests, exceptions, not_proven } = summaryOf([], { runs });
    expect(totals.scheduled_restore_tests).toMatchObject({ total: 600, passed: 400, missed: 200 });
    expect([tests.items.length, tests.omitted, exceptions.items.length]).toEqual([500, 100, 200]);
    expect(not_proven.join()).toContain("200 missed runs have no entry of their own");
  });

  it("leaves out a source that was added after the period", () => {
    expect(summaryOf([], { more: { created_at: at(75) } }).sources).toEqual([]);
  });

  it("names the reason why a source is not proven", () => {
    const words = (receipts: [number, Statement][]): string =>
      summaryOf(receipts, { more: { objectives: null } }).not_proven.join("\n");
    expect(words([])).toMatch(/No restore test ran in the period.*: orders\.\n/);
    expect(words([[30, restoreTest("failed")]])).toMatch(/none passed: orders\.\n/);
    expect(words([])).toMatch(/objective for RPO or RTO is not set.*: orders\.\n/);
  });
});

describe("changes that somebody accepted", () => {
  const accepted = (detail: Record<string, unknown>): EvidenceSummary => {
    const tally = new EvidenceTally(header, policy());
    const event = { kind: "change_accepted", source_id, occurred_at: at(30), detail };
    tally.addEvent({ id: "evt_01jd5wz5pqe6m8n0t4c3x7r2kb", recordedAt: at(30), actorId: agent_id, event });
    return tally.finish();
  };

  it("are listed with who accepted them and why, and on the page", () => {
    const summary = accepted({
      change: "tables",
      tables: ["public.orders"],
      by: "alice",
      because: "archived, <4711>",
    });
    expect(summary.accepted_changes).toEqual({
      items: [
        {
          at: at(30),
          source_id,
          event_id: "evt_01jd5wz5pqe6m8n0t4c3x7r2kb",
          actor_id: agent_id,
          change: "tables",
          tables: ["public.orders"],
          by: "alice",
          because: "archived, <4711>",
        },
      ],
      omitted: 0,
    });
    expect(indexPage(summary, "a test")).toContain("archived, &lt;4711&gt;");
  });

  it("show only text, whatever the agent reported", () => {
    expect(
      accepted({ tables: [7, "t", null], by: {}, because: ["x"] }).accepted_changes?.items,
    ).toMatchObject([{ change: "unknown", tables: ["t"], by: null, because: null }]);
    expect(accepted({ because: "x".repeat(5_000) }).accepted_changes?.items[0]?.because).toHaveLength(1_000);
  });

  it("are left out of a summary that has none, as in packs of earlier versions", () => {
    expect(summaryOf([])).not.toHaveProperty("accepted_changes");
    expect(indexPage(summaryOf([]), "a test")).not.toContain("accepted");
  });
});

describe("the page", () => {
  it("escapes every text", () => {
    const name = '<img src=x onerror="alert(1)">\u202egnp.exe&\u0000';
    const page = indexPage(summaryOf([], { more: { name, slug: "<script>" } }), "<b>");
    expect(page).not.toMatch(/<img|<script|<b>|\u202e/);
    expect(page).not.toContain("\u0000");
    expect(page).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;[U+202E]gnp.exe&amp;[U+0000]");
    expect(escaped("'")).toBe("&#39;");
  });

  it.each([
    [0, "0 s"],
    [59, "59 s"],
    [3600, "1 h"],
    [90_061, "1 d 1 h"],
  ])("%i seconds are %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe("formats", () => {
  const manifest = (files: object[]): Uint8Array =>
    utf8(
      manifestBegin(header) +
        files.map((file, n) => manifestLine(file as Parameters<typeof manifestLine>[0], n === 0)).join("") +
        MANIFEST_END,
    );
  const one = { path: "log/checkpoint", size_bytes: 1, sha256: "cd".repeat(32) };

  it("a manifest reads back as it was written", () => {
    expect(parseManifest(manifest([one, { ...one, path: "a/b" }]))).toEqual({
      ...header,
      files: [one, { ...one, path: "a/b" }],
    });
    expect(parseManifest(manifest([])).files).toEqual([]);
  });

  it.each([{ ...one, path: "../x" }, { ...one, sha256: "CD" }, { ...one, size_bytes: -1 }, {}])(
    "a manifest with %j is refused",
    (file) => {
      expect(() => parseManifest(manifest([file]))).toThrow(ProofError);
    },
  );

  it('a manifest of this format may have unknown members; the verdict on another format is "cannot tell"', () => {
    expect(parseManifest(manifest([{ ...one, more: 1 }])).files).toHaveLength(1);
    const later = fromUtf8(manifest([one])).replace("evidence/v1", "evidence/v2");
    expect(() => parseManifest(utf8(later))).toThrow(UnknownFormat);
  });

  it.each(["a", "a/b.c", "log/tile/entries/x001/234.p/5"])("%s may be a file in a pack", (path) => {
    expect(isPackPath(path)).toBe(true);
  });

  it.each(["", "/a", "a/", "a//b", "..", "a/../b", "a\\b", ".a", "a b", "ä", "a:b", `${"a".repeat(201)}`])(
    "%j may not",
    (path) => {
      expect(isPackPath(path)).toBe(false);
    },
  );

  it("a file of runs reads back, and other text is refused", () => {
    const runs = [run(1, "missed"), run(2, "waiting")];
    expect(parseRuns(utf8(formatRuns(runs)))).toEqual(runs);
    for (const text of ["{}\n", formatRuns(runs).trimEnd(), formatRuns(runs).replace("missed", "fine"), "\n"])
      expect(() => parseRuns(utf8(text)), text).toThrow(ProofError);
    expect(() =>
      parseRuns(utf8(formatRuns(Array.from({ length: 1001 }, (_, n) => run(n % 60, "missed"))))),
    ).toThrow(ProofError);
  });

  it("a log range with a missing member is refused", () => {
    const range = {
      v: 1,
      from_index: 0,
      to_index: 7,
      bodies_until: at(72),
      left_edge: [],
      to_head: [],
      start: null,
      end: null,
    };
    expect(parseLogRange(utf8(JSON.stringify(range)))).toEqual(range);
    for (const name of Object.keys(range))
      expect(() => parseLogRange(utf8(JSON.stringify({ ...range, [name]: undefined }))), name).toThrow(
        ProofError,
      );
  });

  it("the log's signed note about a pack cannot be read as a checkpoint", () => {
    expect(() => parseCheckpoint(manifestNoteText("log.test/org", "ab".repeat(32)))).toThrow(ProofError);
  });
});
