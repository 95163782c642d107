import {
  EnvelopeRequest,
  MAX_RECEIPT_BYTES,
  RECEIPT_IDEMPOTENCY_WINDOW_S,
  ReceiptAccepted,
} from "@attestore/contract";
import { placementAnswer } from "../../log/placement.ts";
import type { Sequencer } from "../../log/sequencer.ts";
import { submitRoute, type Route } from "../../platform/http/route.ts";
import { receiptEntry } from "./receipt-entry.ts";
import { receipts } from "./receipt-kind.ts";
import { verifySubmission } from "./verify-submission.ts";

export function receiptRoutes({ sequencer }: { sequencer: Sequencer }): Route[] {
  return [
    submitRoute({
      method: "POST",
      path: "/v1/receipts",
      summary: "Submit a signed receipt",
      action: "receipt.submit",
      answers: { 201: ReceiptAccepted },
      errors: ["receipt_signature_invalid", "statement_invalid", "statement_mismatch", "backup_unknown"],
      credential: "agent",
      body: EnvelopeRequest,
      bodyLimit: MAX_RECEIPT_BYTES,
      rateLimits: ["default"],
      idempotencyWindow_s: RECEIPT_IDEMPOTENCY_WINDOW_S,
      async handle({ principal, rawBody }, record) {
        const { envelope, statement } = await verifySubmission(rawBody, principal);
        const entry = receiptEntry({
          orgId: principal.orgId,
          agentId: principal.id,
          envelope,
          body: rawBody,
          statement,
        });
        const submitted = await sequencer.submit(receipts, entry, record, rawBody.length);
        if (submitted.is === "remembered") return submitted.answer;
        return placementAnswer("receipt_id", submitted.placement, submitted.replayed);
      },
    }),
  ];
}
