import type { NotProvenBecause } from "../proven/not-proven-because.ts";

/** summary.json: numbers that follow from the other files of a pack, so that whoever has those can count again. */
export interface EvidenceSummary {
  v: 1;
  org: { id: string; name: string };
  period: { from: string; to: string };
  exported_at: string;
  log: { origin: string; tree_size: number; root_hash: string; entries_in_period: number };
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
  /** Every scheduled restore test, as far as MAX_LISTED go; the rest is in runs/ alone. */
  scheduled_restore_tests: Listed<ScheduledTest>;
  /** What went wrong: tests that failed, runs that were missed, reports of agents that something could not be done. */
  exceptions: Listed<EvidenceException>;
  /** Changes of schedules, retention and objectives that the log tells of. */
  policy_changes: Listed<PolicyChange>;
  /** In words, of this pack. */
  not_proven: string[];
}

export interface TestCount {
  passed: number;
  failed: number;
}

export interface RunCount {
  total: number;
  /** Of restore tests those that passed; of backups those that were made. */
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
  /** All of them, asked for by a schedule or not. */
  restore_tests: TestCount;
  backups: number;
  /** Events of agents. */
  backup_failed: number;
  restore_failed: number;
  attestation_failed: number;
  /** Scheduled backups that were registered in time and have no receipt. */
  backups_without_receipt: number;
  last_passed_at: string | null;
  /** Whether it was proven at the end of the period, as far as the pack goes, by the rule of proven/not-proven-because.ts. */
  proof: { proven: boolean; because: NotProvenBecause | null };
  /** Longest time that a loss would have cost, in seconds; null where there was no backup at all. */
  rpo: { objective_s: number | null; achieved_s: number | null; met: boolean | null };
  /** Longest restore of a test that passed, in seconds; null where none did. */
  rto: { objective_s: number | null; achieved_s: number | null; met: boolean | null };
}

export interface Listed<Item> {
  items: Item[];
  omitted: number;
}

/** What a summary lists of a kind at most. */
export const MAX_LISTED = 500;

export interface ScheduledTest {
  source_id: string;
  scheduled_at: string;
  status: string;
  receipt_id: string | null;
}

export interface EvidenceException {
  /** When it was due, or recorded. */
  at: string;
  source_id: string | null;
  what:
    | "restore_test_failed"
    | "restore_test_missed"
    | "backup_missed"
    | "backup_failed"
    | "restore_failed"
    | "attestation_failed";
  /** The receipt or event that tells of it; null for a missed run that has no entry of its own. */
  id: string | null;
}

export interface PolicyChange {
  at: string;
  source_id: string | null;
  event_id: string;
  actor_id: string;
  kind: string;
  /** The names of what was changed. */
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
