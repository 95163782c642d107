import type { DownloadUrl } from "@attestore/contract";
import type { Config } from "../root/config.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { UserError } from "../root/user-error.ts";
import { backupById, newestBackup } from "../receipts/receipt-history.ts";
import type { Attachment } from "../service/attachment.ts";
import { resolveSourceId } from "../service/resolve-source.ts";
import type { StoredBackup } from "./home.ts";

/**
 * The backup that a restore is to be made of: the one that is named, or the newest of the source that this agent made.
 * What it must be comes from this agent's own signed receipt; only of a backup that another agent made is the service
 * asked, and the receipt of the test then says of which digest it speaks.
 * @throws UserError backup_unknown; ServiceError
 */
export async function findStoredBackup(
  attachment: Attachment,
  config: Config,
  source: SourceConfig,
  { backupId, signal }: { backupId: string | undefined; signal: AbortSignal },
): Promise<StoredBackup> {
  const { layout, service } = attachment;
  const sourceId = await resolveSourceId(attachment, config, source.slug, { signal });
  const own =
    backupId === undefined ? await newestBackup(layout, sourceId) : await backupById(layout, backupId);
  const id = own?.statement.predicate.backup_id ?? backupId;
  if (id === undefined) {
    throw new UserError(
      "backup_unknown",
      `this agent has no registered backup of ${source.slug} yet. Make one with \`attestore backup --source ${source.slug}\`, ` +
        "or name one of another agent with --backup.",
    );
  }
  const answer = await service.downloadUrl(id, { signal });
  const found = own === null ? fromService(id, answer) : { ...ownRecord(own.statement), id };
  if (found.sourceId !== sourceId)
    throw new UserError("backup_unknown", `${id} is a backup of another source than ${source.slug}`);
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

type Known = Omit<StoredBackup, "download">;

function ownRecord({
  subject,
  predicate,
}: NonNullable<Awaited<ReturnType<typeof backupById>>>["statement"]): Omit<Known, "id"> {
  return {
    sourceId: predicate.source_id,
    sha256: subject[0].digest.sha256,
    sizeBytes: predicate.size_bytes,
    sourceMetadata: predicate.source_metadata,
  };
}

function fromService(id: string, { backup }: DownloadUrl): Known {
  if (backup?.id !== id) {
    throw new UserError(
      "backup_unknown",
      `${id} was made by another agent, and the service does not say what its digest is`,
    );
  }
  const { source_id: sourceId, sha256, size_bytes: sizeBytes, source_metadata: sourceMetadata } = backup;
  return { id, sourceId, sha256, sizeBytes, sourceMetadata };
}
