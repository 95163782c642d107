import { newId } from "@attestore/contract";
import { listAllReceipts } from "../../receipts/receipt-files.ts";
import { signReceipt } from "../../receipts/sign-receipt.ts";
import { backupStatement, type Signatory } from "../../receipts/statements.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import { readSourceIds, rememberSourceIds } from "../../state/source-ids.ts";
import { alreadySigned } from "../attached/upload-and-register.ts";
import type { DeliveredBackup } from "../backup-backend.ts";
import { blobPath, dropPending, savePending, type PendingBackup } from "../../journal/pending-backup.ts";
import { requireWindow } from "../require-window.ts";
import type { TransferOptions } from "../backup-backend.ts";
import type { BackupStore } from "./backup-store.ts";
import { storageMissing } from "./storage-in-place.ts";
import { recordStored } from "./stored-backups.ts";

export interface StandaloneRoot extends Signatory {
  readonly layout: Layout;
  readonly store: BackupStore;
}

/**
 * Takes a ciphertext from any stage to the store, with a signed receipt: name, store, record, sign,
 * and only then remove the local copy. The name is on disk before the object is made, so a repeat
 * after a crash makes the same object and not a second one. The caller holds the `work` lock.
 */
export async function storeBackup(
  root: StandaloneRoot,
  config: Config,
  found: PendingBackup,
  options: TransferOptions,
): Promise<DeliveredBackup> {
  const { layout, store } = root;
  const { backupId, sourceId, receiptsBefore, pending } = await named(root, found);
  const object = {
    key: `${pending.source}/${backupId}.age`,
    sha256: pending.sha256,
    sizeBytes: pending.size_bytes,
  };
  requireWindow(config.upload);
  await requireInPlace(config, layout);
  await store.put(object, blobPath(layout, pending.sha256), options);
  await recordStored(layout, {
    v: 1,
    ...object,
    id: backupId,
    source: pending.source,
    sourceId,
    at: pending.finished_at,
    sourceMetadata: pending.source_metadata,
  });
  const receipt =
    (await alreadySigned(layout, { backupId, receiptsBefore })) ??
    (await signReceipt(layout, (previous) => backupStatement(root, pending, sourceId, backupId, previous), {
      commandId: null,
    }));
  await dropPending(layout, pending);
  return { backupId, receipt };
}

async function requireInPlace({ standalone }: Config, layout: Layout): Promise<void> {
  const missing = standalone === null ? null : await storageMissing(layout, standalone.storage);
  if (missing === null) return;
  throw new RunError(
    "output_unwritable",
    `${missing}. The encrypted backup is queued in blobs/: \`attestore sync\` stores it`,
  );
}

interface Named {
  readonly pending: PendingBackup;
  readonly backupId: string;
  readonly sourceId: string;
  readonly receiptsBefore: number;
}

async function named({ layout }: StandaloneRoot, pending: PendingBackup): Promise<Named> {
  if (pending.registered !== null && pending.upload !== null) {
    const { backup_id: backupId, receipts_before: receiptsBefore } = pending.registered;
    return { pending, backupId, sourceId: pending.upload.source_id, receiptsBefore };
  }
  const sourceId = await localSourceId(layout, pending.source);
  const backupId = newId("backup");
  const [newest] = await listAllReceipts(layout);
  const receiptsBefore = newest?.sequence ?? 0;
  const next: PendingBackup = {
    ...pending,
    upload: { id: newId("upload"), source_id: sourceId, idempotency_key: "", parts: null },
    registered: { backup_id: backupId, receipts_before: receiptsBefore },
  };
  await savePending(layout, next);
  return { pending: next, backupId, sourceId, receiptsBefore };
}

/**
 * Without a service the root gives its sources their ids itself, once. The caller holds the `work`
 * lock.
 */
async function localSourceId(layout: Layout, slug: string): Promise<string> {
  const known = (await readSourceIds(layout)).get(slug);
  if (known !== undefined) return known;
  const id = newId("source");
  await rememberSourceIds(layout, [{ id, slug }]);
  return id;
}
