export type SubmissionRefusal =
  /** The agent is revoked, perhaps since a moment ago. */
  | "agent_not_active"
  /**
   * The signing key was replaced before the entry was appended. Verifying the entry again shows
   * which key counts.
   */
  | "key_replaced"
  /** The same call is in progress. */
  | "in_progress"
  /** Too many submissions wait. */
  | "full"
  /** The sequencer is closed. */
  | "closed"
  /**
   * The database failed. The entry may or may not be in the log; repeating the submission finds
   * out.
   */
  | "database_away"
  /** This machine's clock and the database's contradict each other. */
  | "clock_off";

/** The log refused an entry for a reason other than the entry's kind or the log's state. */
export class SubmissionRefused extends Error {
  readonly reason: SubmissionRefusal;

  constructor(reason: SubmissionRefusal) {
    super(`the log did not take the entry: ${reason}`);
    this.name = "SubmissionRefused";
    this.reason = reason;
  }
}
