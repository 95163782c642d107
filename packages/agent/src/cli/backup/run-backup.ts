import type { SourceCheck } from "../../engines/engine.ts";
import type { SourceMetadata } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { readDefinitionsKey } from "../../state/definitions-key.ts";
import { holdToPin } from "../../receipts/source-pins.ts";
import { requireNoLogAlarm } from "../../state/log-alarm.ts";
import type { DeliveredBackup } from "../../backends/backup-backend.ts";
import { recordBackup } from "../../journal/pending-backup.ts";
import type { BackupBackend } from "../../backends/backup-backend.ts";

export interface RunOptions {
  /** The service's command that asked for it; null for a person. */
  readonly commandId: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: (phase: string, bytes: number, totalBytes?: number) => void;
}

export interface PerformedBackup extends DeliveredBackup {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** False where the source is another database than the one that is pinned under its name. */
  readonly isPinned: boolean;
  /** What the backup refers to, if another program made it. */
  readonly original: unknown;
  /** Null unless the configuration asks for it. */
  readonly sourceCheck: SourceCheck | null;
  /** What the backup may lack, because the server hid it from its user. For people. */
  readonly hidden: readonly string[];
}

/**
 * A backup from the dump to the signed receipt in the spool. The caller holds the `work` lock and
 * releases it afterwards.
 * @throws RunError or UserError when there is no ciphertext; ServiceError when there is one, which
 *   then waits in blobs/
 */
export async function runBackup(
  backend: BackupBackend,
  config: Config,
  source: SourceConfig,
  { commandId, signal, onProgress }: RunOptions,
): Promise<PerformedBackup> {
  const { layout } = backend;
  // A command of the service is for a source that it has just named as this agent's.
  if (commandId === null) await backend.requireOwn(config, source, signal);
  await requireNoLogAlarm(layout);
  if (config.recipients.length === 0) {
    throw new UserError(
      "config_invalid",
      `${layout.config} has no encryption.recipients: nobody could decrypt the backup`,
    );
  }
  // The engines are loaded where they run: `status` has no use for them.
  const { checkSource, hiddenFromBackup } = await import("../../engines/index.ts");
  // Before the dump, so that nothing waits unrecorded meanwhile.
  const sourceCheck = await checkSource(source, { scratchDir: layout.scratch, signal });
  const { writeEncryptedDump } = await import("../../runs/write-encrypted-dump.ts");
  const made = await writeEncryptedDump({
    source,
    recipients: [...config.recipients],
    blobsDir: layout.blobs,
    scratchDir: layout.scratch,
    definitionsKey: await readDefinitionsKey(layout, source.slug),
    signal,
    onProgress: ({ phase, bytes, totalBytes }) => onProgress(phase, bytes, totalBytes),
  });
  const { sha256, sizeBytes, cipher, startedAt, finishedAt } = made;
  const { slug } = source;
  const { identity, host } = made.origin;
  // The backup is made all the same, so nothing is lost while a person is asleep. The receipt has
  // the database's identity, and no test passes before it is confirmed.
  const isPinned = await holdToPin(layout, slug, {
    identity,
    seenIn: `backup of ${finishedAt}`,
    isNow: true,
  });
  const sourceMetadata = {
    ...made.sourceMetadata,
    ...(sourceCheck === null ? {} : { source_check: sourceCheck }),
    source: {
      slug,
      identity,
      ...(host === null ? {} : { host }),
      ...(isPinned ? {} : { unconfirmed: true }),
    },
  };
  const pending = await recordBackup(layout, {
    sha256,
    size_bytes: sizeBytes,
    source: source.slug,
    command_id: commandId,
    cipher: { name: cipher.name, recipients: [...cipher.recipients] },
    source_metadata: sourceMetadata as SourceMetadata,
    started_at: startedAt,
    finished_at: finishedAt,
  });
  const delivered = await backend.deliver(config, pending, {
    signal,
    onProgress: (bytes, totalBytes) => onProgress("upload", bytes, totalBytes),
  });
  const original = made.sourceMetadata["original"] ?? null;
  const hidden = await hiddenFromBackup(source, made.sourceMetadata);
  return { ...delivered, sha256, sizeBytes, startedAt, finishedAt, isPinned, original, sourceCheck, hidden };
}
