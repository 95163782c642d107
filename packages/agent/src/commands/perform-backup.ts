import type { SourceMetadata } from "@attestore/contract";
import type { Config } from "../root/config.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { UserError } from "../root/user-error.ts";
import { holdToPin } from "../receipts/source-pins.ts";
import { requireNoLogAlarm } from "../service/log-alarm.ts";
import type { DeliveredBackup } from "../spool/deliver-backup.ts";
import { recordBackup } from "../spool/pending-backup.ts";
import type { Home } from "./home.ts";

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
}

/**
 * A backup from the dump to the signed receipt in the spool. The caller holds the `work` lock and settles it afterwards.
 * @throws CouldNotRun or UserError when there is no ciphertext; ServiceError when there is one, which then waits in blobs/
 */
export async function performBackup(
  home: Home,
  config: Config,
  source: SourceConfig,
  { commandId, signal, onProgress }: RunOptions,
): Promise<PerformedBackup> {
  const { layout } = home;
  // Whose backups the service itself asks for, it has just said.
  if (commandId === null) await home.requireOwn(config, source, signal);
  await requireNoLogAlarm(layout);
  if (config.recipients.length === 0) {
    throw new UserError(
      "config_invalid",
      `${layout.config} has no encryption.recipients: nobody could read the backup`,
    );
  }
  // The engines are loaded where they run: `status` has no use for them.
  const { makeBackup } = await import("../runs/make-backup.ts");
  const made = await makeBackup({
    source,
    recipients: [...config.recipients],
    blobsDir: layout.blobs,
    scratchDir: layout.scratch,
    signal,
    onProgress: ({ phase, bytes, totalBytes }) => onProgress(phase, bytes, totalBytes),
  });
  const { sha256, sizeBytes, cipher, startedAt, finishedAt } = made;
  const { slug } = source;
  const { identity, host } = made.origin;
  // The backup is made all the same: nothing is lost while a person is asleep. What it is of is signed, and no test passes before it is
  // confirmed.
  const isPinned = await holdToPin(layout, slug, {
    identity,
    seenIn: `backup of ${finishedAt}`,
    isNow: true,
  });
  const sourceMetadata = {
    ...made.sourceMetadata,
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
  const delivered = await home.deliver(config, pending, {
    signal,
    onProgress: (bytes, totalBytes) => onProgress("upload", bytes, totalBytes),
  });
  return { ...delivered, sha256, sizeBytes, startedAt, finishedAt, isPinned };
}
