import type { DeliveryAttempt } from "@attestore/contract";

/** The outcome of one attempt. */
export interface AttemptResult {
  outcome: DeliveryAttempt["outcome"];
  httpStatus?: number;
  /**
   * For somebody who looks for the cause; in our words, so no text from another server is shown.
   */
  message: string;
  /** The receiver wants no more messages. */
  isGone?: boolean;
}
