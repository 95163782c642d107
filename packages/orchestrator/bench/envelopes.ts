import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { LINES_TYPE } from "@attestore/contract";
import {
  formatEnvelope,
  formatStatement,
  pae,
  PAYLOAD_TYPE,
  PREDICATE_RESTORE_TEST,
  STATEMENT_TYPE,
  type Statement,
} from "@attestore/proof";

/** An agent that submits, as the server of the benchmark attached it. */
export interface Submitter {
  orgId: string;
  agentId: string;
  token: string;
  keyid: string;
  /** PEM. */
  privateKey: string;
  backup: { id: string; sourceId: string; sha256: string };
}

export interface Prepared {
  body: Buffer;
  headers: Record<string, string>;
  /** How many receipts it has. */
  receipts: number;
}

/**
 * Calls with signed receipts of restore tests, each another one: one a call with an
 * Idempotency-Key, or several together.
 */
export function prepareReceipts(
  submitters: readonly Submitter[],
  count: number,
  together: number,
): Prepared[] {
  const keys = submitters.map(({ privateKey }) => createPrivateKey(privateKey));
  return Array.from({ length: Math.ceil(count / together) }, (_, n) => {
    const submitter = submitters[n % submitters.length]!;
    const envelopes = Array.from({ length: together }, (_, line) => {
      const payload = formatStatement(statement(submitter, n * together + line));
      const signature = sign(null, pae(PAYLOAD_TYPE, payload), keys[n % keys.length]!);
      return formatEnvelope({ payloadType: PAYLOAD_TYPE, payload, keyid: submitter.keyid, signature });
    });
    const body = Buffer.from(envelopes.join("\n"));
    const headers = {
      authorization: `Bearer ${submitter.token}`,
      "content-length": String(body.length),
      ...(together === 1
        ? { "content-type": "application/json", "idempotency-key": randomUUID() }
        : { "content-type": LINES_TYPE }),
    };
    return { body, headers, receipts: together };
  });
}

let serial = 0;

function statement({ orgId, agentId, backup }: Submitter, n: number): Statement {
  serial++;
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: backup.id, digest: { sha256: backup.sha256 } }],
    predicateType: PREDICATE_RESTORE_TEST,
    predicate: {
      org_id: orgId,
      agent_id: agentId,
      source_id: backup.sourceId,
      backup_id: backup.id,
      started_at: "2026-11-21T08:00:00.000Z",
      finished_at: "2026-11-21T08:00:42.000Z",
      agent_version: "0.1.0",
      previous_receipt_sha256: serial.toString(16).padStart(64, "0"),
      runtime: { kind: "process", engine: "postgresql", engine_version: "15.14" },
      result: "passed",
      phases: { download_ms: 1200, decrypt_ms: 800, restore_ms: 9000, checks_ms: 120 },
      checks: ["has-orders", "orders-are-recent", "no-orphaned-lines"].map((id) => ({
        id,
        definition_sha256: "5f".repeat(32),
        observed: { n: 1000 + n },
        expectation: "n >= 1000",
        result: "passed",
        duration_ms: 12,
      })),
    },
  };
}
