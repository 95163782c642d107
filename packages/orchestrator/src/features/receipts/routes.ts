import {
  EnvelopeRequest,
  MAX_RECEIPT_BYTES,
  RECEIPT_IDEMPOTENCY_WINDOW_S,
  ReceiptAccepted,
} from "@attestore/contract";
import { inclusionAnswer } from "../../log/inclusion.ts";
import { KeyReplaced } from "../../log/key-replaced.ts";
import type { Sequencer, Submitted } from "../../log/sequencer.ts";
import { submitRoute, type Route } from "../../platform/http/route.ts";
import type { Database } from "../../platform/database/schema.ts";
import { readInOrg } from "../../platform/http/org-scope.ts";
import { findSigningKey } from "../agents/signing-keys.ts";
import { receiptEntry } from "./receipt-entry.ts";
import { receipts } from "./receipt-kind.ts";
import { type FindKey, verifySubmission } from "./verify-submission.ts";

export function receiptRoutes({ sequencer, db }: { sequencer: Sequencer; db: Database }): Route[] {
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
        const findKey: FindKey = (agentId, fingerprint) =>
          readInOrg(db, principal.orgId, (tx) => findSigningKey(tx, agentId, fingerprint));
        const submit = async (isStale: boolean): Promise<Submitted> => {
          const verified = await verifySubmission(rawBody, principal, { findKey, isStale });
          const { orgId, id: agentId } = principal;
          const entry = receiptEntry({ orgId, agentId, body: rawBody, ...verified });
          return sequencer.submit(receipts, entry, record, rawBody.length);
        };
        const submitted = await submit(false).catch((error: unknown) => {
          if (error instanceof KeyReplaced) return submit(true);
          throw error;
        });
        if (submitted.is === "remembered") return submitted.answer;
        return inclusionAnswer("receipt_id", submitted.placement, submitted.replayed);
      },
    }),
  ];
}
