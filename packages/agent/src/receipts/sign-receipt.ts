import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { replaceJsonFile } from "@attestore/host/durable-files";
import {
  envelopeToJson,
  formatStatement,
  PAYLOAD_TYPE,
  receiptKind,
  signEnvelope,
  type EnvelopeJson,
  type Statement,
} from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import { requireNoLogAlarm } from "../state/log-alarm.ts";
import { signNext } from "./chain.ts";
import { receiptFileName, type ReceiptFile } from "./receipt-files.ts";

/** A waiting receipt: everything needed to submit it, in one file that is written once. */
export interface WaitingReceipt {
  readonly v: 1;
  /** Fixed for the life of the receipt, so that a repeated submission counts as the same one. */
  readonly idempotency_key: string;
  readonly signed_at: string;
  /** The command that this receipt completes. */
  readonly command_id: string | null;
  readonly envelope: EnvelopeJson;
}

export interface SignReceiptOptions {
  readonly commandId: string | null;
}

/**
 * Signs a statement as the next of this agent's chain and puts it into the spool in one atomic
 * step: a crash before it leaves no receipt, and a crash after it leaves one that will be
 * submitted. @throws LogAlarmError; UserError key_file; ProofError `statement_invalid` for an
 * invalid statement, which is a defect
 */
export async function signReceipt(
  layout: Layout,
  statementAfter: (previousReceiptSha256: string | null) => Statement,
  { commandId }: SignReceiptOptions,
): Promise<ReceiptFile> {
  await requireNoLogAlarm(layout);
  // Read the key now: it may have been rotated since this process started.
  const key = await readSigningKey(layout);
  return signNext(layout, async (end) => {
    const statement = statementAfter(end.sha256);
    const envelope = await signEnvelope({
      payloadType: PAYLOAD_TYPE,
      payload: formatStatement(statement),
      keyid: key.fingerprint,
      sign: key.sign,
    });
    const kind = receiptKind(statement);
    const sequence = end.sequence + 1;
    const path = join(layout.receiptsWaiting, receiptFileName(sequence, kind));
    const waiting: WaitingReceipt = {
      v: 1,
      idempotency_key: randomUUID(),
      signed_at: new Date().toISOString(),
      command_id: commandId,
      envelope: envelopeToJson(envelope),
    };
    await replaceJsonFile(path, waiting);
    return { sequence, kind, state: "waiting", path };
  });
}
