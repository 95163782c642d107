import { ProofHistory } from "../proven/proof-history.ts";
import { type BackupStatement, PREDICATE_BACKUP, type RestoreTestStatement } from "../receipts/statement.ts";
import { RecoveryPoint, recoveryTimeMs, type TimedRun } from "./objectives.ts";
import type { SourcePolicy } from "./policy.ts";
import type { ScheduledRun } from "./scheduled-run.ts";
import { noRuns, type RunCount, type SourceSummary } from "./summary.ts";

const REPORTS = ["backup_failed", "restore_failed", "attestation_failed"] as const;
export type Report = (typeof REPORTS)[number];

export function isReport(kind: string): kind is Report {
  return (REPORTS as readonly string[]).includes(kind);
}

type CountedRun = TimedRun & { source_id: string; backup_id: string };

/** The fields of a statement that are counted. */
export type TalliedStatement =
  | (Pick<BackupStatement, "predicateType"> & { predicate: CountedRun })
  | (Pick<RestoreTestStatement, "predicateType"> & {
      predicate: CountedRun & Pick<RestoreTestStatement["predicate"], "result">;
    });

/** Counts what a pack contains about one source. */
export class SourceTally {
  readonly #policy: SourcePolicy;
  readonly #point: RecoveryPoint;
  readonly #reports: Record<Report, number> = { backup_failed: 0, restore_failed: 0, attestation_failed: 0 };
  readonly #tests = { passed: 0, failed: 0 };
  readonly #runs = { restore_test: noRuns(), backup: noRuns() };
  readonly #from: number;
  readonly #proof = new ProofHistory();
  #backups = 0;
  #withoutReceipt = 0;
  #lastPassedAt: string | null = null;
  #slowest_ms: number | null = null;

  constructor(policy: SourcePolicy, from: string) {
    this.#policy = policy;
    this.#from = Date.parse(from);
    this.#point = new RecoveryPoint(Date.parse(from > policy.created_at ? from : policy.created_at));
  }

  addBackupBefore(statement: TalliedStatement): void {
    this.#point.before(statement);
    const { backup_id, finished_at } = statement.predicate;
    this.#proof.addBackup(backup_id, Math.min(Date.parse(finished_at), this.#from));
  }

  addReceipt(statement: TalliedStatement, recordedAt: string): void {
    const { backup_id: backupId, finished_at } = statement.predicate;
    const at = Math.min(Date.parse(finished_at), Date.parse(recordedAt));
    if ("result" in statement.predicate)
      this.#proof.addTest({ backupId, result: statement.predicate.result, at });
    else this.#proof.addBackup(backupId, at);
    if (statement.predicateType === PREDICATE_BACKUP) {
      this.#backups += 1;
      this.#point.add(statement, recordedAt);
    } else if (statement.predicate.result === "failed") this.#tests.failed += 1;
    else {
      this.#tests.passed += 1;
      this.#lastPassedAt = recordedAt;
      this.#slowest_ms = Math.max(this.#slowest_ms ?? 0, recoveryTimeMs(statement));
    }
  }

  addReport(kind: Report): void {
    this.#reports[kind] += 1;
  }

  addRun({ kind, status, receipt_id }: ScheduledRun): void {
    const count: RunCount = this.#runs[kind];
    count.total += 1;
    count[status === "done" ? "passed" : status] += 1;
    if (status === "done" && receipt_id === null) this.#withoutReceipt += 1;
  }

  /** Null for a source that did not exist in the period and has nothing in the pack. */
  finish(from: string, end: string): SourceSummary | null {
    const { id, slug, name, engine, created_at, removed_at, objectives } = this.#policy;
    const counted =
      this.#backups +
      this.#tests.passed +
      this.#tests.failed +
      this.#runs.backup.total +
      this.#runs.restore_test.total;
    const isOutside = created_at >= end || (removed_at !== null && removed_at < from);
    if (isOutside && counted === 0) return null;
    const until = removed_at !== null && removed_at < end ? removed_at : end;
    const because = this.#proof.notProvenBecause(Date.parse(until), objectives?.rpo_s);
    const rpo_s = this.#point.achieved_s(Date.parse(until));
    const rto_s = this.#slowest_ms === null ? null : Math.ceil(this.#slowest_ms / 1000);
    return {
      id,
      slug,
      name,
      engine,
      removed_at,
      scheduled_restore_tests: this.#runs.restore_test,
      scheduled_backups: this.#runs.backup,
      restore_tests: this.#tests,
      backups: this.#backups,
      ...this.#reports,
      backups_without_receipt: this.#withoutReceipt,
      last_passed_at: this.#lastPassedAt,
      proof: { proven: because === null, because },
      // Without a backup, the RPO is missed. Without a restore, the recovery time is unknown.
      rpo: {
        ...against(objectives?.rpo_s, rpo_s),
        ...(rpo_s === null ? { met: objectives?.rpo_s === undefined ? null : false } : {}),
      },
      rto: against(objectives?.rto_s, rto_s),
    };
  }
}

function against(
  objective: number | undefined,
  achieved_s: number | null,
): { objective_s: number | null; achieved_s: number | null; met: boolean | null } {
  const met = objective === undefined || achieved_s === null ? null : achieved_s <= objective;
  return { objective_s: objective ?? null, achieved_s, met };
}
