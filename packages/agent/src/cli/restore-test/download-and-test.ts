import { join } from "node:path";
import { readIdentities } from "../../crypto/age-identity.ts";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { requirePinned } from "../../receipts/require-pinned.ts";
import { readEarlierTests } from "../../receipts/read-earlier-tests.ts";
import type { RestoreTestOutcome } from "../../receipts/statements.ts";
import type { WhichControls } from "../../runs/run-negative-controls.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import type { BackupBackend, StoredBackup } from "../../backends/backup-backend.ts";
import type { RunOptions } from "../backup/run-backup.ts";

/** The result of a restore test. Here the phases are always known. */
export type Found = RestoreTestOutcome & Required<Pick<RestoreTestOutcome, "phases">>;

/**
 * Downloads a stored backup, restores it into a sandbox and runs the checks. It signs nothing. The
 * caller holds the `work` lock.
 * @throws RunError, UserError or ServiceError when there is no result
 */
export async function downloadAndTest(
  backend: BackupBackend,
  config: Config,
  source: SourceConfig,
  {
    backupId,
    negativeControls = "changed",
    signal,
    onProgress,
  }: Omit<RunOptions, "commandId"> & {
    readonly backupId: string | undefined;
    readonly negativeControls?: WhichControls;
  },
): Promise<{
  readonly backup: StoredBackup;
  readonly outcome: Found;
  /** The row counts of tables that the checks do not name. */
  readonly unnamed: ReadonlyMap<string, bigint>;
}> {
  const { layout } = backend;
  const identities = await readIdentities(config.identityFiles);
  const backup = await backend.find(config, source, { backupId, signal });
  await requirePinned(layout, source.slug, backup);
  const seen = await readEarlierTests(layout, source, backup.sourceId, backup.id);
  const scratch = await makeScratchDirectory(layout.scratch, null);
  try {
    const startedAt = new Date().toISOString();
    const ciphertext = join(scratch.path, "ciphertext.age");
    const options = {
      signal,
      onProgress: (bytes: number, total: number): void => onProgress("download", bytes, total),
    };
    const downloadStarted = performance.now();
    await backup.download(ciphertext, options);
    const download_ms = Math.round(performance.now() - downloadStarted);
    const { restoreAndCheck } = await import("../../runs/restore-and-check.ts");
    const tested = await restoreAndCheck({
      source,
      sources: [...config.sources.values()],
      ciphertext: { path: ciphertext },
      downloadAgain: () => backup.download(ciphertext, options),
      sha256: backup.sha256,
      identities,
      scratchDir: layout.scratch,
      backupMetadata: backup.sourceMetadata,
      ...(seen === null ? {} : { seen }),
      negativeControls,
      signal,
      onProgress: ({ phase, bytes, totalBytes }) => onProgress(phase, bytes, totalBytes),
    });
    const { result, reason, runtime, checks, profile } = tested;
    const outcome = {
      result,
      runtime,
      checks: [...checks],
      phases: { ...tested.phases, download_ms },
      startedAt,
      finishedAt: new Date().toISOString(),
      ...(reason === undefined ? {} : { reason }),
      ...(profile === undefined ? {} : { profile }),
    };
    return { backup, outcome, unnamed: tested.unnamed ?? new Map() };
  } finally {
    await scratch.remove();
  }
}
