import type { BackupStatement } from "@attestore/proof";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { fetchMakersStatement, requireSameRecord, type WantedBackup } from "./makers-receipt.ts";
import { signedSource } from "../../receipts/signed-source.ts";
import { RunError } from "../../errors/run-error.ts";
import { lostBackups } from "../../receipts/lost-backups.ts";
import { backupById, newestBackup } from "../../receipts/receipt-history.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { resolveSourceId } from "./resolve-source.ts";
import type { StoredBackup } from "../backup-backend.ts";

/**
 * The backup to restore: the named one, or the newest of the source that this agent made. Its
 * expected properties come only from its maker's signature: this agent's own receipt, or the
 * receipt in the log of another agent that config.yaml names under `test_for`. The service's record
 * is compared with that, and never used.
 * @throws UserError backup_unknown; RunError maker_not_trusted, receipt_missing, receipt_invalid,
 * record_mismatch; ServiceError
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
    const newest = [...(await lostBackups(layout))].findLast(([, of]) => of === sourceId)?.[0];
    if (newest !== undefined) throw lostBackup(newest);
    throw new UserError(
      "backup_unknown",
      `this host has no receipt of a backup of ${slug}. Name one with --backup: the dashboard lists all of them. ` +
        `If there is none yet, make one: \`attestore backup --source ${slug}\`.`,
    );
  }
  const wanted = { id, slug, sourceId, trusted: config.testFor.get(slug) };
  const signed = own?.statement ?? (await fetchMakersStatement(attachment, wanted, signal));
  const found = contentOf(signed);
  if (found.sourceId !== sourceId)
    throw new UserError("backup_unknown", `${id} is a backup of another source, not of ${slug}`);
  requireName(wanted, signed, own === null);
  const answer = await service.downloadUrl(id, { signal }).catch(async (error: unknown) => {
    const isUnknown = error instanceof ServiceError && error.status === 404;
    throw isUnknown && (await lostBackups(layout)).has(id) ? lostBackup(id) : error;
  });
  if (answer.backup !== undefined) await requireSameRecord(attachment, wanted, signed, answer.backup);
  // Valid for 15 minutes, which may be over when the backup is downloaded a second time.
  let url: string | null = answer.download_url;
  return {
    ...found,
    download: async (file, options) => {
      const now = url ?? (await service.downloadUrl(id, { signal: options.signal })).download_url;
      url = null;
      return service.download({
        url: now,
        file,
        expectedBytes: found.sizeBytes,
        signal: options.signal,
        onProgress: (bytes) => options.onProgress?.(bytes, found.sizeBytes),
      });
    },
  };
}

function lostBackup(id: string): UserError {
  return new UserError(
    "backup_unknown",
    `the service has no record of ${id}, although this host has its receipt. Its object may still be in the store: see docs/agent.md#a-log-that-lost-entries.`,
  );
}

/**
 * Checks that the backup belongs to the source of this name. The service says which source's id
 * goes with which name; the name in the receipt is the maker's. Receipts of an earlier version
 * contain no name: this agent's own are accepted, another's only if `source_id` is pinned.
 * @throws RunError source_mismatch
 */
function requireName(
  { id, slug, trusted }: WantedBackup,
  { predicate }: BackupStatement,
  isForeign: boolean,
): void {
  const source = signedSource(predicate.source_metadata);
  if (source !== null && source.slug !== slug)
    throw new RunError(
      "source_mismatch",
      `${id} is a backup of ${JSON.stringify(source.slug.slice(0, 63))} according to its signed receipt, but the service lists it under ${slug}`,
    );
  if (source === null && isForeign && (trusted?.sourceId ?? null) === null)
    throw new RunError(
      "source_mismatch",
      `the receipt of ${id} does not name its source: update attestore on the host that made it, or set the source's id under test_for: ${slug}: source_id`,
    );
}

function contentOf({ subject, predicate }: BackupStatement): Omit<StoredBackup, "download"> {
  return {
    id: predicate.backup_id,
    sourceId: predicate.source_id,
    sha256: subject[0].digest.sha256,
    sizeBytes: predicate.size_bytes,
    sourceMetadata: predicate.source_metadata,
  };
}
