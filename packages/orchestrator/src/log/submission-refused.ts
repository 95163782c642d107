export type SubmissionRefusal =
  /** The agent was revoked, perhaps a moment ago. */
  | "agent_not_active"
  /** Signed with a key that was replaced before the entry had its place. Whoever verifies it anew learns which key counts. */
  | "key_replaced"
  /** The same call is on its way. */
  | "in_progress"
  /** More waits than may. */
  | "full"
  /** The sequencer has been closed. */
  | "closed"
  /** The database failed. The entry may or may not be in the log: the same submission again finds out. */
  | "database_away";

/** Why the log did not take an entry, where neither the entry's kind nor the log's state is the reason. */
export class SubmissionRefused extends Error {
  readonly reason: SubmissionRefusal;

  constructor(reason: SubmissionRefusal) {
    super(`the log did not take the entry: ${reason}`);
    this.name = "SubmissionRefused";
    this.reason = reason;
  }
}
