import type { SourceMetadata } from "@attestore/contract";
import type { Draw } from "@attestore/proof";
import type { ReceiptFile } from "../receipts/receipt-files.ts";
import type { Signatory } from "../receipts/statements.ts";
import type { Config } from "../config/config.ts";
import type { Layout } from "../state/layout.ts";
import type { SourceConfig } from "../config/source-config.ts";
import type { PendingBackup } from "../journal/pending-backup.ts";
import type { FailedRun } from "./report-failure.ts";
import type { LogAlarmError } from "../state/log-alarm.ts";
import type { ServiceError } from "../transport/service-error.ts";

export interface DeliveredBackup {
  readonly backupId: string;
  readonly receipt: ReceiptFile;
}

export interface SubmitReport {
  readonly accepted: number;
  readonly refused: number;
  readonly unproven: number;
  /** Entries still queued, including those whose answer was unproven. */
  readonly waiting: number;
  /** The reason why an entry, or all remaining ones, could not be submitted. */
  readonly stoppedBy: ServiceError | LogAlarmError | null;
}

export interface TransferOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, totalBytes: number) => void;
  readonly maxBytesPerSecond?: number | null;
}

/** A stored backup: its expected content, and how to download it. */
export interface StoredBackup {
  readonly id: string;
  readonly sourceId: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly sourceMetadata: SourceMetadata;
  /** Writes the store's actual content to a file. @throws ServiceError, RunError */
  readonly download: (file: string, options: TransferOptions) => Promise<void>;
}

/** The status of this run's receipt. */
export interface ReceiptStatus {
  /** `kept`: on this host's disk, which is where it belongs without a service. */
  readonly state: "accepted" | "waiting" | "refused" | "kept";
  readonly file: string;
  readonly receiptId: string | null;
  readonly logIndex: number | null;
  /** Why it was not accepted. */
  readonly why: string | null;
  /** It was refused, or the service's answer cannot be trusted: waiting is not enough. */
  readonly isWrong: boolean;
}

/** Where a root's backups and receipts go: to a service, or to the user's own disk or bucket. */
export interface BackupBackend extends Signatory {
  readonly layout: Layout;
  /**
   * Checks, before a backup that was started by hand, that it could be delivered. @throws UserError
   * source_unknown
   */
  requireOwn(config: Config, source: SourceConfig, signal: AbortSignal): Promise<void>;
  /**
   * Stores a ciphertext and puts its signed receipt into the spool. Safe to call again after a
   * crash at any point. The caller holds the `work` lock. @throws ServiceError: the backup stays
   * queued in blobs/
   */
  deliver(config: Config, pending: PendingBackup, options: TransferOptions): Promise<DeliveredBackup>;
  /**
   * Returns the named backup, or the source's newest. @throws UserError backup_unknown;
   * ServiceError
   */
  find(
    config: Config,
    source: SourceConfig,
    wanted: { readonly backupId: string | undefined; readonly signal: AbortSignal },
  ): Promise<StoredBackup>;
  /** Ids of the source's backups that are stored and are to stay, oldest first. */
  kept(config: Config, source: SourceConfig, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Draws one of these backups. `draw` proves to anybody that nobody chose it; null without a log
   * that could. Goes on with the source's open draw, if there is one. The caller holds the `work`
   * lock.
   * @throws RunError draw_unavailable
   */
  draw(
    config: Config,
    source: SourceConfig,
    candidates: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly backupId: string; readonly draw: Draw | null }>;
  /** Submits a signed receipt and everything queued before it. */
  submitReceipt(receipt: ReceiptFile, signal: AbortSignal): Promise<ReceiptStatus>;
  /** Submits everything queued. @rejects with the signal's reason */
  submit(signal: AbortSignal): Promise<SubmitReport>;
  /** Records why a run did not reach a result. */
  reportFailure(failed: FailedRun, signal: AbortSignal): Promise<void>;
  close(): void;
}
