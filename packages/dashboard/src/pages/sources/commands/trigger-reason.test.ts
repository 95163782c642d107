import { expect, test } from "vitest";
import type { Command } from "../../commands/command-state.ts";
import { runnerOf, triggerReason } from "./trigger-reason.ts";

const now = new Date("2026-11-21T12:00:00Z");
const source = { agent_id: "agent_a", test_agent_id: null, last_backup_at: "2026-11-20T00:00:00.000Z" };
const free = {
  mayManage: true,
  source,
  agent: { name: "host-1", status: "active" },
  commands: [],
  now,
} as const;
const command = (more: Partial<Command>): Command => ({
  id: "cmd_1",
  created_at: "2026-11-21T11:59:00.000Z",
  org_id: "org_1",
  kind: "backup",
  source_id: "src_1",
  agent_id: "agent_a",
  status: "queued",
  params: {},
  attempts: 0,
  issued_by: "user_1",
  delivered_at: null,
  acked_at: null,
  ended_at: null,
  outcome: {},
  ...more,
});

test("an owner or admin may start a run", () => {
  expect(triggerReason("backup", free)).toBeNull();
  expect(triggerReason("restore_test", free)).toBeNull();
});

test("a disabled button gives the most helpful reason", () => {
  expect(triggerReason("backup", { ...free, mayManage: false })).toContain("read-only");
  expect(triggerReason("backup", { ...free, agent: { name: "host-1", status: "revoked" } })).toContain(
    "The agent host-1 is revoked",
  );
  expect(triggerReason("backup", { ...free, commands: undefined })).toContain(
    "not reported its progress yet",
  );
  expect(triggerReason("restore_test", { ...free, source: { ...source, last_backup_at: null } })).toContain(
    "no backup",
  );
});

test("a kind of run that is running cannot be started twice, but the other kind can", () => {
  for (const status of ["queued", "delivered", "acked"] as const) {
    const commands = [command({ status })];
    expect(triggerReason("backup", { ...free, commands })).toContain("already queued or running");
    expect(triggerReason("restore_test", { ...free, commands })).toBeNull();
  }
});

test("ended, withdrawn and unanswered commands do not block a new one", () => {
  const commands = [
    command({ status: "acked", outcome: { backup_id: "bkp_1", receipt_id: "rcpt_1" } }),
    command({ status: "acked", outcome: { event_id: "evt_1" } }),
    command({ ended_at: "2026-11-21T11:59:30.000Z" }),
    command({ status: "acked", created_at: "2026-11-20T11:00:00.000Z" }),
  ];
  expect(triggerReason("backup", { ...free, commands })).toBeNull();
});

test("a second agent runs the restore tests if the source has one", () => {
  const both = { agent_id: "agent_a", test_agent_id: "agent_b" };
  expect([runnerOf(both, "backup"), runnerOf(both, "restore_test")]).toEqual(["agent_a", "agent_b"]);
  expect(runnerOf({ ...both, test_agent_id: null }, "restore_test")).toBe("agent_a");
});
