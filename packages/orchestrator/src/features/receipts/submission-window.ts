import { RECEIPT_IDEMPOTENCY_WINDOW_S } from "@attestore/contract";

/**
 * How long after signing an agent may submit a receipt. The service remembers idempotency keys for
 * the same time.
 */
export const SUBMISSION_WINDOW_MS = RECEIPT_IDEMPOTENCY_WINDOW_S * 1000;
