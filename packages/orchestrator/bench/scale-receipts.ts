import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import {
  formatEnvelope,
  formatLeaf,
  formatStatement,
  PAYLOAD_TYPE,
  sha256,
  toBase64,
  toHex,
} from "@attestore/proof";
import type { ReceiptEntry } from "../src/features/receipts/receipt-entry.ts";
import { envelopeSha256 } from "../src/log/envelope-sha256.ts";
import type { TestAgent } from "../test/log/log-world.ts";
import { backupStatement, restoreTestStatement } from "../test/log/signed-receipt.ts";

/** One backup and what was found by restoring it. */
const RECEIPTS_OF_A_BACKUP = 4;
/**
 * Some three thousand receipts a day, whatever their number: a million take most of a year, for
 * which the API log is kept.
 */
export const RECEIPT_EVERY_MS = 30_000;
/** How long the API log is kept: a little less than the service keeps it. */
export const API_LOG_MS = 364 * 86_400_000;

/** What an organisation's receipts are about. */
export interface Fleet {
  orgId: string;
  agents: readonly TestAgent[];
  sourceIds: readonly string[];
}

/** A receipt and the backup that it is about. */
export interface MadeReceipt {
  entry: ReceiptEntry;
  /** What the ids of the backup's records end in. */
  backupSuffix: string;
  sourceId: string;
  agent: TestAgent;
}

/**
 * Receipts in the order of the log, as the service makes entries of submitted ones. Their
 * signatures are random: they were checked before a receipt is stored, and nobody looks at them
 * again. The last is of now.
 */
export function* makeReceipts({ orgId, agents, sourceIds }: Fleet, count: number): Generator<MadeReceipt> {
  const beginning = Date.now() - count * RECEIPT_EVERY_MS;
  let backupSuffix = "";
  for (let n = 0; n < count; n++) {
    const recordedAt = new Date(beginning + n * RECEIPT_EVERY_MS);
    const part = n % RECEIPTS_OF_A_BACKUP;
    if (part === 0) backupSuffix = newId("backup", recordedAt.getTime()).slice("bkp_".length);
    const turn = Math.floor(n / RECEIPTS_OF_A_BACKUP);
    const sourceId = sourceIds[turn % sourceIds.length] ?? "";
    const agent = agents[(turn % sourceIds.length) % agents.length];
    if (agent === undefined) throw new Error("there is no agent");
    const backup = {
      id: `bkp_${backupSuffix}`,
      sourceId,
      sha256: toHex(sha256(Buffer.from(backupSuffix))),
      sizeBytes: 1_000_000,
    };
    const finished = new Date(recordedAt.getTime() - 60_000).toISOString();
    const times = { started_at: finished, finished_at: finished };
    const result = turn % 100 === 7 && part === 3 ? "failed" : "passed";
    const statement =
      part === 0
        ? backupStatement(agent, backup, times)
        : restoreTestStatement(agent, backup, { ...times, result });
    const payload = formatStatement(statement);
    const payloadSha256 = sha256(payload);
    const envelope = {
      payloadType: PAYLOAD_TYPE,
      payload,
      keyid: agent.keyFingerprint,
      signature: new Uint8Array(randomBytes(64)),
    };
    const id = newId("receipt", recordedAt.getTime());
    const kind = part === 0 ? "backup" : "restore_test";
    const leaf = formatLeaf({
      kind,
      org_id: orgId,
      id,
      actor_id: agent.id,
      recorded_at: recordedAt.toISOString(),
      body_sha256: toHex(payloadSha256),
      signature: toBase64(envelope.signature),
    });
    const entry: ReceiptEntry = {
      id,
      orgId,
      agentId: agent.id,
      leaf,
      kind,
      statement,
      result: part === 0 ? null : result,
      envelopeSha256: envelopeSha256(payloadSha256, envelope),
      payloadSha256,
      envelope: Buffer.from(formatEnvelope(envelope)),
      recordedAt,
    };
    yield { entry, backupSuffix, sourceId, agent };
  }
}
