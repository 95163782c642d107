import type { Config } from "../../config/config.ts";
import { listAllReceipts, readStatement, type ReceiptFile } from "../../receipts/receipt-files.ts";
import { signReceipt } from "../../receipts/sign-receipt.ts";
import { backupStatement } from "../../receipts/statements.ts";
import type { Layout } from "../../state/layout.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Attachment } from "../../service/attachment.ts";
import { resolveSourceId } from "./resolve-source.ts";
import { isPermanentRefusal, ServiceError } from "../../transport/service-error.ts";
import { finishCommand } from "../../journal/command-journal.ts";
import { dropPending, savePending, type PendingBackup } from "../../journal/pending-backup.ts";
import { requireWindow } from "../require-window.ts";
import { uploadBackup } from "./upload-backup.ts";
import type { TransferOptions } from "../backup-backend.ts";
import { dropProgress } from "../../journal/upload-progress.ts";
import { whileVerifying } from "./while-verifying.ts";
import type { DeliveredBackup } from "../backup-backend.ts";

/**
 * Takes a ciphertext from any stage to a registered backup with a signed receipt in the spool:
 * upload, register, sign, and only then remove the local copy. Safe to call again after a crash
 * anywhere. The caller holds the `work` lock.
 * @throws ServiceError: the backup keeps waiting in blobs/
 */
export async function uploadAndRegister(
  attachment: Attachment,
  config: Config,
  pending: PendingBackup,
  options: TransferOptions,
): Promise<DeliveredBackup> {
  const { layout } = attachment;
  const registered = await register(attachment, config, pending, options);
  const receipt =
    (await alreadySigned(layout, registered)) ??
    (await signReceipt(
      layout,
      (previous) => backupStatement(attachment, pending, registered.sourceId, registered.backupId, previous),
      { commandId: pending.command_id },
    ));
  if (pending.command_id !== null)
    await finishCommand(layout, pending.command_id, `backup ${registered.backupId}`);
  await dropPending(layout, pending);
  return { backupId: registered.backupId, receipt };
}

/**
 * Whether a failed delivery may concern only this backup, because its source is gone or the service
 * refuses it. Then other backups do not wait for it.
 */
export function isOfOneBackup(error: unknown): error is UserError | ServiceError {
  return error instanceof UserError || (error instanceof ServiceError && isPermanentRefusal(error));
}

interface Registered {
  readonly backupId: string;
  readonly sourceId: string;
  readonly receiptsBefore: number;
}

async function register(
  attachment: Attachment,
  config: Config,
  pending: PendingBackup,
  options: TransferOptions,
): Promise<Registered> {
  if (pending.registered !== null && pending.upload !== null) {
    const { backup_id: backupId, receipts_before: receiptsBefore } = pending.registered;
    return { backupId, sourceId: pending.upload.source_id, receiptsBefore };
  }
  if (pending.upload !== null) {
    try {
      return await registerUpload(attachment, pending, pending.upload, options.signal);
    } catch (error) {
      // If the service no longer accepts an upload of an earlier attempt, upload once more.
      if (!(error instanceof ServiceError) || !UPLOAD_IS_GONE.has(error.refusal?.error ?? "")) throw error;
      await dropProgress(attachment.layout, pending.sha256);
    }
  }
  requireWindow(config.upload);
  const upload = await uploadToSource(attachment, config, pending, options);
  await savePending(attachment.layout, { ...pending, upload });
  return registerUpload(attachment, pending, upload, options.signal);
}

const UPLOAD_IS_GONE = new Set([
  "object_missing",
  "object_mismatch",
  "conflict",
  "not_found",
  "already_exists",
]);

async function uploadToSource(
  attachment: Attachment,
  config: Config,
  pending: PendingBackup,
  options: TransferOptions,
): Promise<NonNullable<PendingBackup["upload"]>> {
  const { signal } = options;
  const paced = { ...options, maxBytesPerSecond: config.upload.maxBytesPerSecond };
  const sourceId = await resolveSourceId(attachment, config, pending.source, { signal });
  try {
    return await uploadBackup(attachment, pending, sourceId, paced);
  } catch (error) {
    // The remembered id may belong to a source that was removed and declared again.
    if (!(error instanceof ServiceError) || error.refusal?.error !== "not_found") throw error;
    const fresh = await resolveSourceId(attachment, config, pending.source, { signal, refresh: true });
    if (fresh === sourceId) throw error;
    return uploadBackup(attachment, pending, fresh, paced);
  }
}

async function registerUpload(
  { layout, service }: Attachment,
  pending: PendingBackup,
  upload: NonNullable<PendingBackup["upload"]>,
  signal: AbortSignal,
): Promise<Registered> {
  const { sha256, size_bytes, cipher, source_metadata, command_id } = pending;
  const request = {
    upload_id: upload.id,
    source_id: upload.source_id,
    created_at: pending.finished_at,
    cipher,
    source_metadata,
    sha256,
    size_bytes,
    ...(command_id === null ? {} : { command_id }),
    ...(upload.parts === null ? {} : { parts: [...upload.parts] }),
  };
  const record = await whileVerifying(() =>
    service.registerBackup(request, { signal, idempotencyKey: upload.idempotency_key }),
  );
  if (record.sha256 !== sha256 || record.source_id !== upload.source_id)
    throw new ServiceError(
      "invalid_response",
      "the service registered a different backup than the agent sent",
    );
  const [newest] = await listAllReceipts(layout);
  const receiptsBefore = newest?.sequence ?? 0;
  await savePending(layout, {
    ...pending,
    upload,
    registered: { backup_id: record.id, receipts_before: receiptsBefore },
  });
  return { backupId: record.id, sourceId: upload.source_id, receiptsBefore };
}

/** The receipt of a run that was killed right after signing. */
export async function alreadySigned(
  layout: Layout,
  { backupId, receiptsBefore }: Pick<Registered, "backupId" | "receiptsBefore">,
): Promise<ReceiptFile | null> {
  for (const file of await listAllReceipts(layout)) {
    if (file.sequence <= receiptsBefore) break;
    if (file.kind !== "backup") continue;
    if ((await readStatement(file))?.predicate.backup_id === backupId) return file;
  }
  return null;
}
