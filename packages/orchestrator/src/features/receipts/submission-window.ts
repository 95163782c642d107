import { RECEIPT_IDEMPOTENCY_WINDOW_S } from "@attestore/contract";

/** How long an agent's spool submits what it signed (and the service remembers its keys). */
export const SUBMISSION_WINDOW_MS = RECEIPT_IDEMPOTENCY_WINDOW_S * 1000;
