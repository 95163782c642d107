import type { SourceLimits } from "../config/source-limits.ts";

/**
 * Comparing content, and counting tables without a count in the backup, may each take this share of
 * the restore's time, and always a minute.
 */
const SHARE = 0.5;
const MIN_MS = 60_000;
/** The same for the profile, which few miss where it would take long. */
const PROFILE_SHARE = 0.2;
const MIN_PROFILE_MS = 20_000;

/** How long each part of a restore test's checks may take. */
export interface CheckBudgets {
  readonly content_ms: number;
  readonly profile_ms: number;
  /** For tables that the backup did not count. */
  readonly count_s: number;
}

/** Limited so that a comparison or count alone never uses up the source's time limit. */
export function checkBudgets(restore_ms: number, { time_s }: SourceLimits): CheckBudgets {
  const left_ms = Math.max(0, time_s * 1000 - restore_ms);
  const content_ms = Math.min(Math.max(MIN_MS, restore_ms * SHARE), left_ms / 2);
  return {
    content_ms,
    profile_ms: Math.min(Math.max(MIN_PROFILE_MS, restore_ms * PROFILE_SHARE), content_ms),
    count_s: content_ms / 1000,
  };
}
