import type { SourceMetadata } from "@attestore/contract";
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
  /** What is still to be submitted, with what was unproven. */
  readonly waiting: number;
  /** What kept an entry, or the rest of them, from being submitted. */
  readonly stoppedBy: ServiceError | LogAlarmError | null;
}

export interface TransferOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, totalBytes: number) => void;
  readonly maxBytesPerSecond?: number | null;
}

/** A stored backup: what it must be, and how to get it. */
export interface StoredBackup {
  readonly id: string;
  readonly sourceId: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly sourceMetadata: SourceMetadata;
  /** Writes what the store really holds into a file. @throws ServiceError, RunError */
  readonly download: (file: string, options: TransferOptions) => Promise<void>;
}

/** Where a receipt of this run has got to. */
export interface ReceiptStatus {
  /** `kept`: on this host's disk, where it belongs when there is no service. */
  readonly state: "accepted" | "waiting" | "refused" | "kept";
  readonly file: string;
  readonly receiptId: string | null;
  readonly logIndex: number | null;
  /** Why it is not accepted. */
  readonly why: string | null;
  /**
   * It was refused, or what the service said of it can't be believed: more than waiting is needed.
   */
  readonly isWrong: boolean;
}

/**
 * Where the backups and the receipts of a root go: to a service, or to the person's own disk or
 * bucket.
 */
export interface BackupBackend extends Signatory {
  readonly layout: Layout;
  /**
   * Before a backup that nobody but the person here asked for: that it could be delivered. @throws
   * UserError source_unknown
   */
  requireOwn(config: Config, source: SourceConfig, signal: AbortSignal): Promise<void>;
  /**
   * Takes a ciphertext from wherever it is to a stored backup with a signed receipt. Safe to call
   * again after a crash anywhere. The caller holds the `work` lock. @throws ServiceError: the
   * backup goes on waiting in blobs/
   */
  deliver(config: Config, pending: PendingBackup, options: TransferOptions): Promise<DeliveredBackup>;
  /**
   * The backup that is named, or the newest of the source. @throws UserError backup_unknown;
   * ServiceError
   */
  find(
    config: Config,
    source: SourceConfig,
    wanted: { readonly backupId: string | undefined; readonly signal: AbortSignal },
  ): Promise<StoredBackup>;
  /** Takes a signed receipt, with all that waits before it, to where it belongs. */
  submitReceipt(receipt: ReceiptFile, signal: AbortSignal): Promise<ReceiptStatus>;
  /** Takes everything that waits to where it belongs. @rejects with the signal's reason */
  submit(signal: AbortSignal): Promise<SubmitReport>;
  /** Records what kept a run from its result. */
  reportFailure(failed: FailedRun, signal: AbortSignal): Promise<void>;
  close(): void;
}
