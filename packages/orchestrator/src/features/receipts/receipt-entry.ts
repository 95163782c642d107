import {
  formatLeaf,
  receiptKind,
  sha256,
  toBase64,
  toHex,
  type Envelope,
  type ReceiptKind,
  type Statement,
} from "@attestore/proof";
import { newId } from "@attestore/contract";
import type { LogEntry } from "../../log/sequencer/entry.ts";
import { envelopeSha256 } from "../../log/envelope-sha256.ts";

/** A receipt with a valid signature, on its way into the log. */
export interface ReceiptEntry extends LogEntry {
  kind: ReceiptKind;
  statement: Statement;
  result: "passed" | "failed" | null;
  envelopeSha256: Buffer;
  payloadSha256: Uint8Array;
  /** The request's body. */
  envelope: Buffer;
  recordedAt: Date;
  /**
   * The command whose outcome it is, or null for none, if its agent has lost the source since. Set
   * when the receipt is checked against the records.
   */
  answers?: string | null;
}

export function receiptEntry(
  input: {
    orgId: string;
    agentId: string;
    envelope: Envelope;
    body: Buffer;
    statement: Statement;
    /** Signed with a key that has been replaced since. */
    isByRetiredKey?: boolean;
  },
  recordedAt = new Date(),
): ReceiptEntry {
  const { orgId, agentId, envelope, statement } = input;
  const id = newId("receipt", recordedAt.getTime());
  const kind = receiptKind(statement);
  const payloadSha256 = sha256(envelope.payload);
  const leaf = formatLeaf({
    kind,
    org_id: orgId,
    id,
    actor_id: agentId,
    recorded_at: recordedAt.toISOString(),
    body_sha256: toHex(payloadSha256),
    signature: toBase64(envelope.signature),
  });
  return {
    id,
    orgId,
    agentId,
    ...(input.isByRetiredKey === true ? {} : { signedWith: envelope.keyid }),
    leaf,
    kind,
    statement,
    result: "result" in statement.predicate ? statement.predicate.result : null,
    envelopeSha256: envelopeSha256(payloadSha256, envelope),
    payloadSha256,
    envelope: input.body,
    recordedAt,
  };
}

/**
 * When a run ended by the agent's account, but never later than it was recorded. So neither a
 * receipt that waited in the spool nor a clock that is ahead makes a run look more recent than it
 * was.
 */
export function happenedAt({ statement, recordedAt }: ReceiptEntry): string {
  const recorded = recordedAt.toISOString();
  const { finished_at } = statement.predicate;
  return finished_at < recorded ? finished_at : recorded;
}
