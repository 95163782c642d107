import {
  comparedContent,
  type ComparedContent,
  comparedContentText,
  type NotProvenBecause,
  emptyTables,
  fewerObjects,
  namedNotCounted,
  notLookedAt,
  suspicionText,
} from "@attestore/proof";
import type { SourceConfig } from "../../config/source-config.ts";
import type { SourceCheck } from "../../engines/engine.ts";
import { readOpenDraw } from "../../journal/open-draw.ts";
import { type Coverage, readCoverage } from "../../receipts/coverage.ts";
import { lastClean, newestBackup, newestRestoreTest } from "../../receipts/receipt-history.ts";
import { lostBackups } from "../../receipts/lost-backups.ts";
import { sourceProof } from "../../receipts/source-proof.ts";
import type { Layout } from "../../state/layout.ts";
import { sourceCheckOf } from "../outcome/source-check-lines.ts";

/**
 * `proven`, and why not, by the rule of packages/proof. `untested` also means that the newest
 * backup, or its proof, is too old to count.
 */
export type SourceVerdict = "proven" | "failed" | "untested" | "no_backup";

export interface SourceStatus {
  readonly source: string;
  readonly engine: string;
  readonly verdict: SourceVerdict;
  /** Null if it is proven. */
  readonly because: NotProvenBecause | null;
  readonly last_backup: { readonly id: string; readonly at: string; readonly size_bytes: number } | null;
  /** Against the objective in config.yaml; null without one. */
  readonly rpo: Rpo | null;
  /** Findings about the source itself at the last backup; null if nobody looked. */
  readonly source_check: SourceCheck | null;
  readonly last_test: {
    readonly backup_id: string;
    readonly at: string;
    readonly result: "passed" | "failed";
    readonly reason: string | null;
    readonly checks: number;
    /** Tables whose rows nobody counted. */
    readonly not_counted: number;
    /** Their names, as far as they fit into the receipt. */
    readonly not_counted_tables: string | null;
    /** Tables or indexes of SQLite that the integrity check could not look at. */
    readonly not_checked: number;
    /** Their names, each with the reason. */
    readonly not_checked_names: string | null;
    /** Tables without rows in which no test saw any. */
    readonly empty: number;
    readonly empty_tables: string | null;
    /** Kinds of objects of which the backup has fewer than the one before. */
    readonly fewer_objects: string | null;
    /** Suspicious changes since earlier tests, for people. */
    readonly suspicious: readonly string[];
    /** How far the tables' content was compared with the dump; null if it was not. */
    readonly content: ComparedContent | null;
    /** The same for people; null for a tree of files. */
    readonly content_text: string;
    /** Whether the receipt proves that nobody chose the backup. */
    readonly drawn: boolean;
  } | null;
  /** A draw without a result; `backup_id` is null until the log has decided it. */
  readonly open_draw: { readonly declared_at: string; readonly backup_id: string | null } | null;
  /** Null if no restore test has picked another backup than the newest. */
  readonly coverage: Coverage | null;
  /** The newest backup whose last test passed and found nothing suspicious. */
  readonly last_clean_backup: string | null;
  /**
   * Backups of which this host has receipts and the service has no record, oldest first. They count
   * nowhere else here.
   */
  readonly lost_backups: readonly string[];
}

export interface Rpo {
  readonly objective_s: number;
  /** How old the newest backup is; null without any. */
  readonly achieved_s: number | null;
  readonly met: boolean;
}

/** This host's state of a source, only from its own files. */
export async function readSourceStatus(
  layout: Layout,
  { slug, engine, rpo_s }: SourceConfig,
  id: string | undefined,
): Promise<SourceStatus> {
  const now = Date.now();
  const backup = id === undefined ? null : await newestBackup(layout, id);
  const test = id === undefined ? null : await newestRestoreTest(layout, id);
  const last_test =
    test === null
      ? null
      : {
          backup_id: test.statement.predicate.backup_id,
          at: test.statement.predicate.finished_at,
          result: test.statement.predicate.result,
          reason: test.statement.predicate.reason ?? null,
          checks: test.statement.predicate.checks.length,
          not_counted: namedNotCounted(test.statement.predicate.checks).count,
          not_counted_tables: namedNotCounted(test.statement.predicate.checks).names,
          not_checked: notLookedAt(test.statement.predicate.checks).count,
          not_checked_names: notLookedAt(test.statement.predicate.checks).names,
          empty: emptyTables(test.statement.predicate.checks).count,
          empty_tables: emptyTables(test.statement.predicate.checks).names,
          fewer_objects: fewerObjects(test.statement.predicate.checks),
          suspicious: (test.statement.predicate.profile?.suspicious ?? []).map(suspicionText),
          content: comparedContent(test.statement.predicate.checks),
          content_text: comparedContentText(test.statement.predicate.checks),
          drawn: test.statement.predicate.draw !== undefined,
        };
  const last_backup =
    backup === null
      ? null
      : {
          id: backup.statement.predicate.backup_id,
          at: backup.statement.predicate.finished_at,
          size_bytes: backup.statement.predicate.size_bytes,
        };
  const source_check = backup === null ? null : sourceCheckOf(backup.statement.predicate.source_metadata);
  const because = id === undefined ? "never_backed_up" : await sourceProof(layout, id, { now, rpo_s });
  const verdict = because === null ? "proven" : VERDICTS[because];
  const open = id === undefined ? null : await readOpenDraw(layout, id);
  const open_draw =
    open === null ? null : { declared_at: open.declared_at, backup_id: open.decided?.backup_id ?? null };
  const coverage = id === undefined ? null : await readCoverage(layout, { slug, sourceId: id, now });
  const last_clean_backup = id === undefined ? null : await lastClean(layout, id);
  const lost_backups = [...(await lostBackups(layout))].flatMap(([backup, of]) =>
    of === id ? [backup] : [],
  );
  return {
    source: slug,
    engine,
    verdict,
    because,
    last_backup,
    rpo: rpoOf(last_backup, rpo_s, now),
    source_check,
    last_test,
    last_clean_backup,
    lost_backups,
    open_draw,
    coverage,
  };
}

const VERDICTS: Readonly<Record<NotProvenBecause, SourceVerdict>> = {
  never_backed_up: "no_backup",
  restore_test_failed: "failed",
  never_proven: "untested",
  proof_too_old: "untested",
  newest_not_proven: "untested",
};

function rpoOf(
  backup: SourceStatus["last_backup"],
  objective_s: number | undefined,
  now: number,
): Rpo | null {
  if (objective_s === undefined) return null;
  const achieved_s = backup === null ? null : Math.max(0, Math.round((now - Date.parse(backup.at)) / 1000));
  return { objective_s, achieved_s, met: achieved_s !== null && achieved_s <= objective_s };
}
