import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { formatLeaf } from "@attestore/proof";
import type { ApiLogRow } from "../../src/platform/http/api-log/api-log-row.ts";
import type { SubmissionRecord } from "../../src/platform/http/route/route.ts";
import type { EntryKind, LogEntry } from "../../src/log/sequencer/entry.ts";
import type { TestAgent } from "./log-world.ts";

/** Entries that are nothing but their leaf. */
export const plainEntries: EntryKind<LogEntry> = {
  lookup: () => Promise.resolve(() => ({ is: "new" })),
  insert: () => [],
};

export function plainEntry(agent: TestAgent, more: Partial<LogEntry> = {}): LogEntry {
  const id = newId("event");
  const leaf = formatLeaf({
    kind: "plain",
    org_id: agent.orgId,
    id,
    actor_id: agent.id,
    recorded_at: new Date().toISOString(),
    body_sha256: randomBytes(32).toString("hex"),
  });
  return { id, orgId: agent.orgId, agentId: agent.id, leaf, ...more };
}

/** What the pipeline hands to a submission. */
export function submissionRecord(
  agent: TestAgent,
  idempotency: { scope: Buffer; fingerprint: Buffer } | null = null,
): SubmissionRecord {
  const createdAt = new Date();
  return {
    idempotency:
      idempotency === null
        ? null
        : {
            scopeSha256: idempotency.scope,
            fingerprint: idempotency.fingerprint,
            createdAt,
            expiresAt: new Date(createdAt.getTime() + 3_600_000),
          },
    apiLogRow: (status): ApiLogRow => ({
      id: newId("apiLog"),
      org_id: agent.orgId,
      actor_kind: "agent",
      actor_id: agent.id,
      impersonator_id: null,
      method: "POST",
      route: "/v1/test",
      path: "/v1/test",
      status,
      duration_ms: 1,
      address: "127.0.0.1",
      user_agent: 'quo"ted, {curly}',
      request_id: newId("request"),
      idempotency_key: null,
      created_at: createdAt,
    }),
  };
}
