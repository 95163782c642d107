import {
  EnvelopeRequest,
  LINES_TYPE,
  MAX_RECEIPT_BYTES,
  MAX_RECEIPTS_AT_ONCE,
  MAX_RECEIPTS_AT_ONCE_BYTES,
  RECEIPT_IDEMPOTENCY_WINDOW_S,
  ReceiptAccepted,
} from "@attestore/contract";
import { submitRoute, type Route } from "../../platform/http/route/route.ts";
import type { Database } from "../../platform/database/schema.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { findSigningKey } from "../agents/signing-keys.ts";
import { submitEntry, type Submissions } from "../submissions/submit-entry.ts";
import { receiptEntry } from "./receipt-entry.ts";
import { receipts } from "./receipt-batch.ts";
import { type FindKey, verifySubmission } from "./verify-submission.ts";

export function receiptRoutes({ sequencer, db }: { sequencer: Submissions; db: Database }): Route[] {
  return [
    submitRoute({
      method: "POST",
      path: "/v1/receipts",
      summary: "Submit a signed receipt",
      action: "receipt.submit",
      answers: { 200: LINES_TYPE, 201: ReceiptAccepted },
      errors: ["receipt_signature_invalid", "statement_invalid", "statement_mismatch", "backup_unknown"],
      credential: "agent",
      body: EnvelopeRequest,
      bodyLimit: MAX_RECEIPT_BYTES,
      lines: { most: MAX_RECEIPTS_AT_ONCE, bytes: MAX_RECEIPTS_AT_ONCE_BYTES },
      rateLimits: ["default"],
      idempotencyWindow_s: RECEIPT_IDEMPOTENCY_WINDOW_S,
      handle({ principal, body, rawBody }, record) {
        const findKey: FindKey = (agentId, fingerprint) =>
          readInOrg(db, principal.orgId, (tx) => findSigningKey(tx, agentId, fingerprint));
        return submitEntry(
          { sequencer, kind: receipts, idField: "receipt_id" },
          record,
          rawBody.length,
          async (isStale) => {
            const verified = await verifySubmission(body, principal, { findKey, isStale });
            const { orgId, id: agentId } = principal;
            return receiptEntry({ orgId, agentId, body: rawBody, ...verified });
          },
        );
      },
    }),
  ];
}
