import type { BackupRecord, DownloadedBackup } from "@attestore/contract";
import type { Backup } from "./store.ts";

/** A backup as the contract's section 10 shows it; `created_at` is when the agent made it. */
export function backupRecord(backup: Backup): BackupRecord {
  return {
    id: backup.id,
    created_at: backup.made_at.toISOString(),
    org_id: backup.org_id,
    source_id: backup.source_id,
    agent_id: backup.agent_id,
    sha256: backup.sha256.toString("hex"),
    size_bytes: backup.size_bytes,
    cipher: backup.cipher,
    source_metadata: backup.source_metadata,
    status: backup.status,
    proven_at: backup.proven_at?.toISOString() ?? null,
    ...(backup.failed_at === null || backup.failed_receipt_id === null
      ? {}
      : { failed_at: backup.failed_at.toISOString(), failed_receipt_id: backup.failed_receipt_id }),
    ...(backup.suspicious_at === null ? {} : { suspicious_at: backup.suspicious_at.toISOString() }),
    ...(backup.last_clean === true ? { last_clean: true } : {}),
    expires_at: backup.expires_at?.toISOString() ?? null,
    ...(backup.kept_at === null ? {} : { kept_at: backup.kept_at.toISOString() }),
  };
}

export function downloadedBackup(backup: Backup): DownloadedBackup {
  const { id, source_id, sha256, size_bytes, cipher, source_metadata } = backup;
  return { id, source_id, sha256: sha256.toString("hex"), size_bytes, cipher, source_metadata };
}
