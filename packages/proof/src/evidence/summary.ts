import type { GenerationSummary } from "./pack-generations.ts";
import type { NotProvenBecause } from "../proven/not-proven-because.ts";

/**
 * summary.json: numbers that follow from the other files of a pack, so anyone with those files can
 * recompute them.
 */
export interface EvidenceSummary {
  v: 1;
  org: { id: string; name: string };
  period: { from: string; to: string };
  exported_at: string;
  log: { origin: string; tree_size: number; root_hash: string; entries_in_period: number };
  /** Only of a log that lost entries: its later generations, and the events that began them. */
  generations?: GenerationSummary[];
  totals: {
    sources: number;
    receipts: number;
    events: number;
    backups: number;
    restore_tests: TestCount;
    scheduled_restore_tests: RunCount;
    scheduled_backups: RunCount;
  };
  sources: SourceSummary[];
  /** Every scheduled restore test, up to MAX_LISTED. The rest is only in runs/. */
  scheduled_restore_tests: Listed<ScheduledTest>;
  /** Problems: failed tests, missed runs, and agents' reports of runs that could not finish. */
  exceptions: Listed<EvidenceException>;
  /** Logged changes of schedules, retention and objectives. */
  policy_changes: Listed<PolicyChange>;
  /** Changes of sources that a person on the host accepted. Absent if there are none. */
  accepted_changes?: Listed<AcceptedChange>;
  /** What this pack does not show, in words. */
  not_proven: string[];
}

export interface TestCount {
  passed: number;
  failed: number;
}

export interface RunCount {
  total: number;
  /** Restore tests that passed, or backups that were made. */
  passed: number;
  failed: number;
  missed: number;
  waiting: number;
  withdrawn: number;
}

export interface SourceSummary {
  id: string;
  slug: string;
  name: string;
  engine: string;
  removed_at: string | null;
  scheduled_restore_tests: RunCount;
  scheduled_backups: RunCount;
  /** All runs, scheduled or not. */
  restore_tests: TestCount;
  backups: number;
  /** Events that agents reported. */
  backup_failed: number;
  restore_failed: number;
  attestation_failed: number;
  /** Scheduled backups that were registered in time but have no receipt. */
  backups_without_receipt: number;
  last_passed_at: string | null;
  /**
   * Whether the source was proven at the end of the period, as far as the pack shows, by the rule
   * in proven/not-proven-because.ts.
   */
  proof: { proven: boolean; because: NotProvenBecause | null };
  /**
   * The longest span of data that a loss would have cost, in seconds; null if there was no backup.
   */
  rpo: { objective_s: number | null; achieved_s: number | null; met: boolean | null };
  /** The longest restore of a test that passed, in seconds; null if none passed. */
  rto: { objective_s: number | null; achieved_s: number | null; met: boolean | null };
}

export interface Listed<Item> {
  items: Item[];
  omitted: number;
}

/** The most entries of one kind that a summary lists. */
export const MAX_LISTED = 500;

export interface ScheduledTest {
  source_id: string;
  scheduled_at: string;
  status: string;
  receipt_id: string | null;
}

export interface EvidenceException {
  /** When it was due, or when it was recorded. */
  at: string;
  source_id: string | null;
  what:
    | "restore_test_failed"
    | "restore_test_missed"
    | "backup_missed"
    | "backup_failed"
    | "restore_failed"
    | "attestation_failed";
  /** The receipt or event that reports it; null for a missed run without its own entry. */
  id: string | null;
}

/** As the agent reported it; texts are cut. */
export interface AcceptedChange {
  at: string;
  source_id: string | null;
  event_id: string;
  /** The agent. */
  actor_id: string;
  /** What changed, such as `tables`. */
  change: string;
  /** Names or patterns; none for other changes. */
  tables: string[];
  /** The user of the host; null if the event does not say. */
  by: string | null;
  because: string | null;
}

export interface PolicyChange {
  at: string;
  source_id: string | null;
  event_id: string;
  actor_id: string;
  kind: string;
  /** The names of the changed settings. */
  changed: string[];
}

export const noRuns = (): RunCount => ({
  total: 0,
  passed: 0,
  failed: 0,
  missed: 0,
  waiting: 0,
  withdrawn: 0,
});
