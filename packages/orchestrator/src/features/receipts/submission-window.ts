import { RECEIPT_IDEMPOTENCY_WINDOW_S } from "@attestore/contract";

/**
 * An agent may hand in a receipt this long after it signed it. The service remembers idempotency
 * keys for the same time.
 */
export const SUBMISSION_WINDOW_MS = RECEIPT_IDEMPOTENCY_WINDOW_S * 1000;
