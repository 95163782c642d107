import { sign } from "node:crypto";
import {
  formatEnvelope,
  formatStatement,
  pae,
  PAYLOAD_TYPE,
  PREDICATE_BACKUP,
  PREDICATE_RESTORE_TEST,
  STATEMENT_TYPE,
  type BackupPredicate,
  type RestoreTestPredicate,
  type Statement,
} from "@attestore/proof";
import type { TestAgent, TestBackup } from "./log-world.ts";

/** A run that has just ended: some of what is tested is about the last days. */
const FINISHED_AT = Date.now();
const STARTED_AT = FINISHED_AT - 42_000;

const run = (agent: TestAgent, backup: TestBackup) => ({
  org_id: agent.orgId,
  agent_id: agent.id,
  source_id: backup.sourceId,
  backup_id: backup.id,
  started_at: new Date(STARTED_AT).toISOString(),
  finished_at: new Date(FINISHED_AT).toISOString(),
  agent_version: "0.1.0",
  previous_receipt_sha256: null,
});

/** Of a run that a test moves to another time, its beginning: no receipt ends before it begins. */
function startedBefore({ started_at, finished_at }: Partial<BackupPredicate>): { started_at?: string } {
  if (started_at !== undefined || finished_at === undefined) return {};
  return { started_at: new Date(Date.parse(finished_at) - (FINISHED_AT - STARTED_AT)).toISOString() };
}

const subject = (backup: TestBackup): Statement["subject"] => [
  { name: backup.id, digest: { sha256: backup.sha256 } },
];

export function backupStatement(
  agent: TestAgent,
  backup: TestBackup,
  more: Partial<BackupPredicate> = {},
): Statement {
  return {
    _type: STATEMENT_TYPE,
    subject: subject(backup),
    predicateType: PREDICATE_BACKUP,
    predicate: {
      ...run(agent, backup),
      size_bytes: backup.sizeBytes,
      cipher: { name: "age-v1", recipients: ["age1example"] },
      source_metadata: {
        engine: "postgresql",
        engine_version: "15.14",
        dump_format: "custom",
        schema_hash: "5f".repeat(32),
      },
      ...more,
      ...startedBefore(more),
    },
  };
}

export function restoreTestStatement(
  agent: TestAgent,
  backup: TestBackup,
  more: Partial<RestoreTestPredicate> = {},
): Statement {
  return {
    _type: STATEMENT_TYPE,
    subject: subject(backup),
    predicateType: PREDICATE_RESTORE_TEST,
    predicate: {
      ...run(agent, backup),
      runtime: { kind: "process", engine: "postgresql", engine_version: "15.14" },
      result: "passed",
      checks: [
        {
          id: "has-orders",
          definition_sha256: "5f".repeat(32),
          observed: { n: 1234 },
          expectation: "n >= 1000",
          result: "passed",
          duration_ms: 12,
        },
      ],
      ...more,
      ...startedBefore(more),
    },
  };
}

/** The JSON of the statement's envelope, signed by the agent. */
export function signedEnvelope(agent: TestAgent, statement: Statement): Buffer {
  return envelopeOf(agent, formatStatement(statement));
}

/** The same of any payload, also one that is no statement. */
export function envelopeOf(agent: TestAgent, payload: Uint8Array, payloadType = PAYLOAD_TYPE): Buffer {
  const signature = sign(null, pae(payloadType, payload), agent.privateKey);
  return Buffer.from(formatEnvelope({ payloadType, payload, keyid: agent.keyFingerprint, signature }));
}
