import { join } from "node:path";
import type { RestoreTestPredicate } from "@attestore/proof";
import { readIdentities } from "../root/age-identity.ts";
import type { Config } from "../root/config.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { newestPassedRestoreTest } from "../receipts/receipt-history.ts";
import type { ReceiptFile } from "../receipts/receipt-files.ts";
import { signReceipt } from "../receipts/sign-receipt.ts";
import { restoreTestStatement } from "../receipts/statements.ts";
import { requireNoLogAlarm } from "../service/log-alarm.ts";
import { makeScratchDirectory } from "../sandboxes/process/scratch-directory.ts";
import { recoveryTime, type RecoveryTime } from "../runs/recovery-time.ts";
import { finishCommand } from "../spool/command-journal.ts";
import type { Home } from "./home.ts";
import type { RunOptions } from "./perform-backup.ts";

export interface PerformedRestoreTest extends Pick<
  RestoreTestPredicate,
  "result" | "reason" | "checks" | "phases" | "runtime"
> {
  readonly backupId: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly receipt: ReceiptFile;
  readonly recovery: RecoveryTime;
}

/**
 * A restore test from the download of what the object store really holds to the signed receipt in the spool. The caller
 * holds the `work` lock and settles it afterwards.
 * @throws CouldNotRun, UserError or ServiceError when there is no result, neither passed nor failed
 */
export async function performRestoreTest(
  home: Home,
  config: Config,
  source: SourceConfig,
  { backupId, commandId, signal, onProgress }: RunOptions & { readonly backupId: string | undefined },
): Promise<PerformedRestoreTest> {
  const { layout, key } = home;
  await requireNoLogAlarm(layout);
  const identities = await readIdentities(config.identityFiles);
  const backup = await home.find(config, source, { backupId, signal });
  const lastPassed = await newestPassedRestoreTest(layout, backup.sourceId);
  const scratch = await makeScratchDirectory(layout.scratch, null);
  try {
    const startedAt = new Date().toISOString();
    const ciphertext = join(scratch.path, "ciphertext.age");
    const downloadStarted = performance.now();
    await backup.download(ciphertext, {
      signal,
      onProgress: (bytes, total) => onProgress("download", bytes, total),
    });
    const download_ms = Math.round(performance.now() - downloadStarted);
    const { testRestore } = await import("../runs/test-restore.ts");
    const tested = await testRestore({
      source,
      sources: [...config.sources.values()],
      ciphertext: { path: ciphertext },
      sha256: backup.sha256,
      identities,
      scratchDir: layout.scratch,
      backupMetadata: backup.sourceMetadata,
      // Ids are in the order of time: what an older backup lacks is nothing that was lost since.
      ...(lastPassed === null ||
      source.rowFloors === false ||
      backup.id < lastPassed.statement.predicate.backup_id
        ? {}
        : { lastPassed: lastPassed.statement.predicate }),
      signal,
      onProgress: ({ phase, bytes, totalBytes }) => onProgress(phase, bytes, totalBytes),
    });
    const finishedAt = new Date().toISOString();
    const { result, reason, runtime, checks } = tested;
    const phases = { ...tested.phases, download_ms };
    const outcome = {
      result,
      runtime,
      checks: [...checks],
      phases,
      startedAt,
      finishedAt,
      ...(reason === undefined ? {} : { reason }),
    };
    const receipt = await signReceipt(
      layout,
      key,
      (previous) => restoreTestStatement(home, backup, outcome, previous),
      { commandId },
    );
    if (commandId !== null) await finishCommand(layout, commandId, `restore test ${result}`);
    return { ...outcome, backupId: backup.id, receipt, recovery: recoveryTime(phases, source.rto_s) };
  } finally {
    await scratch.remove();
  }
}
