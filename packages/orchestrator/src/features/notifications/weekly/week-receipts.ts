import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../../log/checkpoints/checkpoint-signer.ts";
import { transactionSession } from "../../../platform/database/sql-session.ts";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import type { MailAttachment } from "../../../platform/mail/mail.ts";
import { readBundle } from "../../receipts/bundle.ts";
import { findReceipt } from "../../receipts/queries.ts";
import type { Period } from "./week-summary.ts";

/** Mail servers accept at least 10 MB, and base64 makes files a third larger. */
const MAX_BYTES = 6 * 1024 * 1024;
const MAX_FILES = 500;

export interface WeekReceipts {
  attachments: MailAttachment[];
  /** Of the week, whether attached or not. */
  total: number;
}

/**
 * The week's receipts with their proofs, as files. Restore tests come first, the newest of them
 * first, until the mail is full.
 */
export async function readWeekReceipts(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  signer: CheckpointSigner,
  orgId: string,
  { from, to }: Period,
  { maxBytes, maxFiles } = { maxBytes: MAX_BYTES, maxFiles: MAX_FILES },
): Promise<WeekReceipts> {
  const [first, end] = [firstIdAt("receipt", from.getTime()), firstIdAt("receipt", to.getTime())];
  const { rows: counted } = await sql<{ total: number }>`
    select count(*)::int as total from receipts where org_id = ${orgId} and id >= ${first} and id < ${end}`.execute(
    tx,
  );
  const { rows } = await sql<{ id: string }>`
    select id from receipts where org_id = ${orgId} and id >= ${first} and id < ${end}
    order by kind desc, id desc limit ${maxFiles}`.execute(tx);
  const attachments: MailAttachment[] = [];
  let left = maxBytes;
  for (const { id } of rows) {
    const receipt = await findReceipt(tx, envelopes, orgId, id);
    if (receipt === null) throw new Error("a receipt of the week is missing");
    const bundle = await readBundle(transactionSession(tx), signer, receipt);
    const content = Buffer.from(JSON.stringify(bundle));
    if (content.length > left) break;
    left -= content.length;
    attachments.push({ filename: `${id}.json`, contentType: "application/json", content });
  }
  return { attachments, total: counted[0]?.total ?? 0 };
}
