import { seal, type Envelope } from "./dsse.ts";
import type { Answer } from "./https.ts";
import { sha256Hex } from "./merkle.ts";
import type { WireAgent } from "./organisation.ts";
import type { BackupRecord } from "./backups.ts";

export interface Statement {
  _type: string;
  subject: { name: string; digest: { sha256: string } }[];
  predicateType: string;
  predicate: Record<string, unknown>;
}

/** 201 of a receipt or an event, the ids apart. */
export interface Placement {
  log_index: number;
  leaf: Record<string, unknown>;
  leaf_hash: string;
  log_id: string;
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  checkpoint: string;
}

export type ReceiptAccepted = Placement & { receipt_id: string };
export type EventAccepted = Placement & { event_id: string };

function frame(agent: WireAgent, backup: BackupRecord): Record<string, unknown> {
  return {
    org_id: agent.orgId,
    agent_id: agent.id,
    source_id: backup.source_id,
    backup_id: backup.id,
    started_at: new Date(Date.now() - 5000).toISOString(),
    finished_at: new Date().toISOString(),
    agent_version: "0.1.0",
    previous_receipt_sha256: agent.previousReceipt,
  };
}

function statement(backup: BackupRecord, type: string, predicate: Record<string, unknown>): Statement {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: backup.id, digest: { sha256: backup.sha256 } }],
    predicateType: `https://attestore.dev/${type}/v1`,
    predicate,
  };
}

export function backupStatement(agent: WireAgent, backup: BackupRecord): Statement {
  return statement(backup, "backup", {
    ...frame(agent, backup),
    size_bytes: backup.size_bytes,
    cipher: backup.cipher,
    source_metadata: backup.source_metadata,
  });
}

export function check(result: "passed" | "failed" = "passed"): Record<string, unknown> {
  return {
    id: "has-orders",
    definition_sha256: "cd".repeat(32),
    observed: { n: result === "passed" ? 1000 : 3 },
    expectation: "n >= 1000",
    result,
    duration_ms: 12,
  };
}

export function restoreTestStatement(
  agent: WireAgent,
  backup: BackupRecord,
  result: "passed" | "failed" = "passed",
): Statement {
  return statement(backup, "restore-test", {
    ...frame(agent, backup),
    runtime: { kind: "process", engine: "postgresql", engine_version: "15.14" },
    result,
    ...(result === "failed" ? { reason: "check has-orders failed" } : {}),
    phases: { download_ms: 1, decrypt_ms: 2, restore_ms: 3, checks_ms: 4 },
    checks: [check(result)],
  });
}

export function submit(agent: WireAgent, envelope: Envelope, idempotencyKey?: string): Promise<Answer> {
  return agent.call("POST", "/v1/receipts", envelope, { idempotencyKey });
}

/** Signs and submits a statement that has to be accepted, and moves the agent's chain on. */
export async function accepted(agent: WireAgent, statement_: unknown): Promise<ReceiptAccepted> {
  const envelope = seal(agent.signer, statement_);
  const answer = await submit(agent, envelope);
  if (answer.status !== 201) throw new Error(`receipt: ${answer.status} ${answer.body.toString()}`);
  agent.previousReceipt = sha256Hex(Buffer.from(envelope.payload, "base64"));
  return answer.json<ReceiptAccepted>();
}
