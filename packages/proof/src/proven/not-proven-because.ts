/**
 * The rule by which a source is proven, for everything that says so: the newest finished backup, or one that is not older than the source's
 * RPO, has passed a restore test, at most PROOF_AGE_S ago; and no restore test has failed since, unless a backup at least as new as the
 * one that failed has passed after it.
 */

/** The RPO of a source that has no objective for it, seconds. */
export const DEFAULT_RPO_S = 36 * 3600;
/** A proof counts for so long, seconds. */
export const PROOF_AGE_S = 7 * 86_400;

/** What is known of a source's backups and restore tests. Times are milliseconds since 1970, never later than they were recorded. */
export interface ProofFacts {
  /** Whether there is any finished backup. */
  hasBackup: boolean;
  /** Whether a restore test has ever passed. */
  everPassed: boolean;
  /** Of the backups that passed a restore test at most PROOF_AGE_S ago the newest. */
  passed: { isNewest: boolean; finishedAt: number } | null;
  /** Whether a restore test failed after which no backup as new as that one has passed. */
  failed: boolean;
  /** The source's objective, seconds. */
  rpo_s: number | undefined;
}

export const NOT_PROVEN = [
  "never_backed_up",
  "restore_test_failed",
  "never_proven",
  "proof_too_old",
  "newest_not_proven",
] as const;
export type NotProvenBecause = (typeof NOT_PROVEN)[number];

/** Null for a source that is proven. */
export function notProvenBecause(facts: ProofFacts, now: number): NotProvenBecause | null {
  const { hasBackup, everPassed, passed, failed, rpo_s = DEFAULT_RPO_S } = facts;
  if (!hasBackup) return "never_backed_up";
  if (failed) return "restore_test_failed";
  if (!everPassed) return "never_proven";
  if (passed === null) return "proof_too_old";
  return passed.isNewest || now - passed.finishedAt <= rpo_s * 1000 ? null : "newest_not_proven";
}
