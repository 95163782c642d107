import type { Envelope, ReceiptDetail, ReceiptRecord } from "@attestore/contract";
import type { ListedReceipt, StoredReceipt } from "./queries.ts";

/** A receipt as the contract's section 10 shows it. */
export function receiptRecord(receipt: ListedReceipt): ReceiptRecord {
  const { id, org_id, kind, source_id, agent_id, backup_id, result, log_index } = receipt;
  return {
    id,
    created_at: receipt.created_at.toISOString(),
    org_id,
    kind,
    source_id,
    agent_id,
    backup_id,
    result,
    log_index,
    leaf_hash: receipt.leaf_hash.toString("hex"),
  };
}

export function receiptDetail(receipt: StoredReceipt): ReceiptDetail {
  return { ...receiptRecord(receipt), envelope: envelopeOf(receipt) };
}

/** An accepted receipt was checked member by member, so it parses again. */
export function envelopeOf(receipt: StoredReceipt): Envelope {
  return JSON.parse(receipt.envelope.toString("utf8")) as Envelope;
}
