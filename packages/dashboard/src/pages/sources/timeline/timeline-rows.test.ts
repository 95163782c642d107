import { describe, expect, test } from "vitest";
import { describeEntry } from "./describe-entry.ts";
import type { RestoreTest, TimelineItem } from "../queries.ts";
import { timelineRows } from "./timeline-rows.ts";

const at = "2026-11-21T12:00:00.000Z";
const common = { created_at: at, org_id: "org_1", source_id: "src_1", agent_id: "agent_1" };
const placed = { log_index: 1, leaf_hash: "ab".repeat(32) };

const backup = (
  id: string,
  proven_at: string | null = null,
  failed_at: string | null = null,
): TimelineItem => ({
  type: "backup",
  at,
  backup: {
    ...common,
    id,
    sha256: "ab".repeat(32),
    size_bytes: 1536,
    cipher: { name: "age-v1", recipients: ["age1x"] },
    source_metadata: {
      engine: "sqlite",
      engine_version: "3.46",
      dump_format: "sqlite",
      schema_hash: "ab".repeat(32),
    },
    status: "available",
    proven_at,
    ...(failed_at === null ? {} : { failed_at, failed_receipt_id: "rcpt_failed" }),
    expires_at: null,
  },
});
const receipt = (id: string, kind: "backup" | "restore_test", result: "passed" | "failed" | null = null) =>
  ({
    type: "receipt",
    at,
    receipt: { ...common, ...placed, id, kind, backup_id: "bkp_1", result },
  }) satisfies TimelineItem;
const command = (
  id: string,
  outcome: { receipt_id?: string; event_id?: string; backup_id?: string; result?: "passed" | "failed" },
): TimelineItem => ({
  type: "command",
  at,
  command: {
    ...common,
    id,
    kind: "backup",
    status: "acked",
    params: {},
    attempts: 1,
    issued_by: "schedule",
    delivered_at: at,
    acked_at: at,
    ended_at: null,
    outcome,
  },
});
const event = (
  id: string,
  kind: string,
  detail: Record<string, unknown>,
  ended_at?: string | null,
): TimelineItem => ({
  type: "event",
  at,
  event: {
    ...common,
    ...placed,
    id,
    kind,
    actor: { kind: "service", id: "service" },
    occurred_at: at,
    detail,
  },
  incident: ended_at === undefined ? null : { ended_at },
});

test("a backup, its receipt and its command share one row; a test and its command share another", () => {
  const rows = timelineRows([
    receipt("rcpt_test", "restore_test", "passed"),
    command("cmd_test", { receipt_id: "rcpt_test" }),
    receipt("rcpt_backup", "backup"),
    backup("bkp_1"),
    command("cmd_backup", { backup_id: "bkp_1", receipt_id: "rcpt_backup" }),
  ]);
  expect(rows.map(({ id, receipt: r, command: c }) => [id, r?.id, c?.id])).toEqual([
    ["rcpt_test", undefined, "cmd_test"],
    ["bkp_1", "rcpt_backup", "cmd_backup"],
  ]);
});

test("a backup whose newest restore test failed is refuted, wherever that test is in the list", () => {
  const [before, after] = ["2026-11-21T11:00:00.000Z", "2026-11-21T13:00:00.000Z"];
  const shown = (proven_at: string | null, failed_at: string | null) => {
    const [row = expect.unreachable()] = timelineRows([backup("bkp_1", proven_at, failed_at)]);
    const { mark, details } = describeEntry(row, new Date(at));
    return [row.isRefuted, mark === "failed", details.includes("did NOT restore")];
  };
  for (const proven of [null, before]) expect(shown(proven, after)).toEqual([true, true, true]);
  for (const failed of [null, before]) expect(shown(after, failed)).toEqual([false, false, false]);
});

test("records whose counterpart is not loaded stay, and so does each of several commands that ended together", () => {
  const rows = timelineRows([
    event("evt_1", "source_removed", {}),
    command("cmd_1", { event_id: "evt_1" }),
    command("cmd_2", { event_id: "evt_1" }),
    command("cmd_3", { receipt_id: "rcpt_old" }),
    receipt("rcpt_2", "backup"),
  ]);
  expect(rows.map(({ id }) => id)).toEqual(["evt_1", "cmd_2", "cmd_3", "rcpt_2"]);
});

test.each([
  [backup("bkp_1"), "backed_up", "Backup made", "1.5 kB · SQLite 3.46 · not proven"],
  [backup("bkp_1", at), "proven", "Backup made", "1.5 kB · SQLite 3.46 · proven just now"],
  [receipt("rcpt_1", "restore_test", "failed"), "failed", "Restore test failed", ""],
  [
    event("evt_1", "restore_failed", { reason: "no_key", message: "There is no key." }),
    "failed",
    "Restore test could not run",
    "There is no key.",
  ],
  [
    event("evt_1", "backup_missed", { scheduled_at: at }, null),
    "missed",
    "Backup missed",
    /^due .*21 Nov 2026.* · still open$/,
  ],
  [event("evt_1", "of_later", { reason: "x" }), "none", "of_later", "x"],
  [command("cmd_1", {}), "none", "Backup requested", "accepted"],
  [command("cmd_1", { receipt_id: "rcpt_older" }), "none", "Backup requested", "done"],
  [command("cmd_1", { receipt_id: "rcpt_older", result: "passed" }), "proven", "Backup requested", "passed"],
  [command("cmd_1", { receipt_id: "rcpt_older", result: "failed" }), "failed", "Backup requested", "failed"],
  [command("cmd_1", { event_id: "evt_older" }), "failed", "Backup requested", "failed"],
] as const)("an entry in words: %#", (item, mark, title, details) => {
  const words = describeEntry({ item }, new Date(at));
  expect([words.mark, words.title]).toEqual([mark, title]);
  if (typeof details === "string") expect(words.details.join(" · ")).toBe(details);
  else expect(words.details.join(" · ")).toMatch(details);
});

describe("a restore test with a known result", () => {
  const passed: RestoreTest = {
    ...common,
    receipt_id: "rcpt_1",
    backup_id: "bkp_1",
    started_at: at,
    finished_at: at,
    result: "passed",
    runtime: { kind: "process", engine: "sqlite", engine_version: "3.46" },
    phases: { download_ms: 200, decrypt_ms: 100, restore_ms: 1200, checks_ms: 40 },
    checks: [],
  };

  test("that passed shows how many checks held, and when the data was back", () => {
    const { details } = describeEntry(
      { item: receipt("rcpt_1", "restore_test", "passed") },
      new Date(at),
      passed,
    );
    expect(details).toEqual(["0 checks held", "data back in 1.5 s"]);
  });

  test("that failed shows why", () => {
    const failed: RestoreTest = { ...passed, result: "failed", reason: "check has-orders failed" };
    const { details } = describeEntry(
      { item: receipt("rcpt_1", "restore_test", "failed") },
      new Date(at),
      failed,
    );
    expect(details).toEqual(["check has-orders failed"]);
  });
});
