import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "./harness/backups.ts";
import { canonicalJson } from "./harness/canonical-json.ts";
import { expectError, expectIssues } from "./harness/errors.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { attach, createOrganisation, type WireAgent } from "./harness/organisation.ts";
import { idOf, unknownId } from "./harness/patterns.ts";
import { expectPlaced } from "./harness/placement.ts";
import { startServer, type Server } from "./harness/server.ts";
import type { EventAccepted } from "./harness/statements.ts";

let server: Server;
let agent: WireAgent;
let stranger: WireAgent;
let source: string;
let backup: BackupRecord;

beforeAll(async () => {
  server = await startServer();
  agent = await attach(await createOrganisation(server));
  stranger = await attach(await createOrganisation(server));
  source = await declareSource(agent);
  backup = await writeEncryptedDump(agent, source);
});
afterAll(() => server.remove());

const event = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: "restore_failed",
  occurred_at: new Date().toISOString(),
  detail: { message: "the dump could not be read" },
  ...more,
});

async function treeSize(): Promise<number> {
  return (await agent.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

describe("an event", () => {
  it.each(["backup_failed", "restore_failed", "attestation_failed"])(
    "of the kind %s is in the log",
    async (kind) => {
      const before = await treeSize();
      const answer = await agent.call(
        "POST",
        "/v1/events",
        event({ kind, source_id: source, backup_id: backup.id }),
      );
      expect(answer.status, answer.body.toString()).toBe(201);
      const placed = answer.json<EventAccepted>();
      expect(Object.keys(placed).toSorted()).toEqual(
        ["event_id", "log_index", "leaf", "leaf_hash", "log_id", "inclusion_proof", "checkpoint"].toSorted(),
      );
      expect(placed.event_id).toMatch(idOf("evt"));
      expect(placed.log_index).toBe(before);
      expect(placed.leaf["kind"]).toBe(kind);
      expectPlaced(agent, placed, placed.event_id);
    },
  );

  it("needs no source, and accepts any JSON as its detail", async () => {
    const detail = {
      n: 1,
      text: "naïve 🐘 \u2028",
      list: [null, true, -0.5, 1e21],
      deep: { a: { b: { c: [] } } },
    };
    const answer = await agent.call("POST", "/v1/events", event({ detail }));
    expect(answer.status, answer.body.toString()).toBe(201);
  });

  it("can be recognised in the log by anybody who knows its content", async () => {
    const body = event({ source_id: source, detail: { z: 1, a: [2, "é"] } });
    const answer = await agent.call("POST", "/v1/events", body);
    const { leaf } = answer.json<EventAccepted>();
    expect(leaf["body_sha256"]).toBe(sha256Hex(canonicalJson(body)));
  });

  it.each([
    ["of the service's own kinds", { kind: "impersonation_call" }],
    ["of a kind that nobody knows", { kind: "coffee_spilt" }],
    ["of no kind", { kind: undefined }],
    ["at no time", { occurred_at: undefined }],
    ["at a day that is not in the calendar", { occurred_at: "2026-02-30T00:00:00.000Z" }],
    ["in local time", { occurred_at: "2026-02-20T00:00:00.000+02:00" }],
    ["without detail", { detail: undefined }],
    ["with a list as detail", { detail: [] }],
    ["with more in it", { severity: "high" }],
    ["of an agent that it names itself", { agent_id: "agent_01jd4qk8x5e5r8v3n6z7m4c2qp" }],
  ])("%s is refused", async (_what, change) => {
    const before = await treeSize();
    const answer = await agent.call("POST", "/v1/events", event(change));
    expectError(answer, "invalid_request");
    expectIssues(answer);
    expect(await treeSize()).toBe(before);
  });

  it("is refused for a source, backup or command that the organisation does not have", async () => {
    const theirs = await declareSource(stranger);
    const before = await treeSize();
    for (const change of [
      { source_id: theirs },
      { source_id: unknownId("src") },
      { backup_id: (await writeEncryptedDump(stranger, theirs)).id },
      { backup_id: unknownId("bkp") },
      { command_id: unknownId("cmd") },
    ]) {
      expectError(await agent.call("POST", "/v1/events", event(change)), "not_found", "backup_unknown");
    }
    expect(await treeSize()).toBe(before);
  });
});
