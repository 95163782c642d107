import type { BackupStatement } from "@attestore/proof";
import type { Config } from "../root/config.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { UserError } from "../root/user-error.ts";
import { fetchMakersStatement, requireSameRecord } from "../receipts/makers-receipt.ts";
import { backupById, newestBackup } from "../receipts/receipt-history.ts";
import type { Attachment } from "../service/attachment.ts";
import { resolveSourceId } from "../service/resolve-source.ts";
import type { StoredBackup } from "./home.ts";

/**
 * The backup that a restore is to be made of: the one that is named, or the newest of the source that this agent made.
 * What it must be comes from what its maker signed alone: this agent's own receipt, or the one that the log has of another agent which
 * config.yaml names under `test_for`. What the service's record says is compared with that, and never used.
 * @throws UserError backup_unknown; CouldNotRun maker_not_trusted, receipt_missing, receipt_invalid, record_mismatch; ServiceError
 */
export async function findStoredBackup(
  attachment: Attachment,
  config: Config,
  source: SourceConfig,
  { backupId, signal }: { backupId: string | undefined; signal: AbortSignal },
): Promise<StoredBackup> {
  const { layout, service } = attachment;
  const { slug } = source;
  const sourceId = await resolveSourceId(attachment, config, slug, { signal });
  const own =
    backupId === undefined ? await newestBackup(layout, sourceId) : await backupById(layout, backupId);
  const id = own?.statement.predicate.backup_id ?? backupId;
  if (id === undefined) {
    throw new UserError(
      "backup_unknown",
      `this agent has no registered backup of ${slug} yet. Make one with \`attestore backup --source ${slug}\`, ` +
        "or name one of another agent with --backup.",
    );
  }
  const wanted = { id, slug, sourceId, trusted: config.testFor.get(slug) };
  const signed = own?.statement ?? (await fetchMakersStatement(attachment, wanted, signal));
  const found = saidOf(signed);
  if (found.sourceId !== sourceId)
    throw new UserError("backup_unknown", `${id} is a backup of another source than ${slug}`);
  const answer = await service.downloadUrl(id, { signal });
  if (answer.backup !== undefined) await requireSameRecord(attachment, wanted, signed, answer.backup);
  return {
    ...found,
    download: (file, options) =>
      service.download({
        // Good for 15 minutes.
        url: answer.download_url,
        file,
        expectedBytes: found.sizeBytes,
        signal: options.signal,
        onProgress: (bytes) => options.onProgress?.(bytes, found.sizeBytes),
      }),
  };
}

function saidOf({ subject, predicate }: BackupStatement): Omit<StoredBackup, "download"> {
  return {
    id: predicate.backup_id,
    sourceId: predicate.source_id,
    sha256: subject[0].digest.sha256,
    sizeBytes: predicate.size_bytes,
    sourceMetadata: predicate.source_metadata,
  };
}
