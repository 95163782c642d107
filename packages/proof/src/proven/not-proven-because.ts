/**
 * The one rule for when a source is proven. The newest finished backup, or one no older than the
 * source's RPO, passed a restore test at most PROOF_AGE_S ago. No restore test has failed since,
 * unless a backup at least as new as the failed one passed afterwards.
 */

/** The RPO in seconds of a source without an objective. */
export const DEFAULT_RPO_S = 36 * 3600;
/** How long a passed restore test counts, in seconds. */
export const PROOF_AGE_S = 7 * 86_400;

/**
 * What is known about a source's backups and restore tests. Times are milliseconds since 1970,
 * never later than their recording.
 */
export interface ProofFacts {
  /** Whether any backup finished. */
  hasBackup: boolean;
  /** Whether a restore test ever passed. */
  everPassed: boolean;
  /** The newest of the backups that passed a restore test at most PROOF_AGE_S ago. */
  passed: { isNewest: boolean; finishedAt: number } | null;
  /** Whether a restore test failed and no backup at least as new has passed since. */
  failed: boolean;
  /** The source's RPO, in seconds. */
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

/** Why a source is not proven; null if it is. `now` is milliseconds since 1970. */
export function notProvenBecause(facts: ProofFacts, now: number): NotProvenBecause | null {
  const { hasBackup, everPassed, passed, failed, rpo_s = DEFAULT_RPO_S } = facts;
  if (!hasBackup) return "never_backed_up";
  if (failed) return "restore_test_failed";
  if (!everPassed) return "never_proven";
  if (passed === null) return "proof_too_old";
  return passed.isNewest || now - passed.finishedAt <= rpo_s * 1000 ? null : "newest_not_proven";
}
