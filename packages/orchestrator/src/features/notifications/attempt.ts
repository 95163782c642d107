import type { DeliveryAttempt } from "@attestore/contract";

/** What came of one attempt. */
export interface AttemptResult {
  outcome: DeliveryAttempt["outcome"];
  httpStatus?: number;
  /** For whoever looks why; in our words, so that no answer of somebody else's is shown. */
  message: string;
  /** The receiver wants nothing any more. */
  isGone?: boolean;
}
