import { timeOfId } from "@attestore/contract";
import type { Draw } from "@attestore/proof";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import type { ReceiptFile } from "../../receipts/receipt-files.ts";
import { rememberUnnamed } from "../../receipts/unnamed-tables.ts";
import { signReceipt } from "../../receipts/sign-receipt.ts";
import { restoreTestStatement, type RestoreTestOutcome } from "../../receipts/statements.ts";
import { requireNoLogAlarm } from "../../state/log-alarm.ts";
import { recoveryTime, type RecoveryTime } from "../../runs/recovery-time.ts";
import { closeDraw } from "../../journal/open-draw.ts";
import { finishCommand } from "../../journal/command-journal.ts";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import type { RunOptions } from "../backup/run-backup.ts";
import { downloadAndTest } from "./download-and-test.ts";

export interface PerformedRestoreTest extends RestoreTestOutcome {
  readonly backupId: string;
  readonly receipt: ReceiptFile;
  readonly recovery: RecoveryTime;
  /** Whether its receipt proves that nobody chose the backup. */
  readonly isDrawn: boolean;
}

/**
 * A restore test, from the download of the stored object to the signed receipt in the spool. The
 * caller holds the `work` lock and releases it afterwards.
 * @throws RunError, UserError or ServiceError when there is no result, neither passed nor failed
 */
export async function runRestoreTest(
  backend: BackupBackend,
  config: Config,
  source: SourceConfig,
  options: RunOptions & { readonly backupId: string | undefined; readonly draw?: Draw | null },
): Promise<PerformedRestoreTest> {
  const { layout } = backend;
  const { commandId, draw } = options;
  await requireNoLogAlarm(layout);
  const { backup, outcome, unnamed } = await downloadAndTest(backend, config, source, options);
  const receipt = await signReceipt(
    layout,
    (previous) => restoreTestStatement(backend, backup, outcome, previous, draw ?? undefined),
    { commandId },
  );
  if (draw) await closeDraw(layout, backup.sourceId);
  if (outcome.result === "passed")
    await rememberUnnamed(
      layout,
      source.slug,
      {
        at: outcome.finishedAt,
        backupId: backup.id,
        madeAt: new Date(timeOfId(backup.id)).toISOString(),
      },
      unnamed,
    );
  if (commandId !== null) await finishCommand(layout, commandId, `restore test ${outcome.result}`);
  return {
    ...outcome,
    backupId: backup.id,
    receipt,
    recovery: recoveryTime(outcome.phases, source.rto_s),
    isDrawn: (draw ?? null) !== null,
  };
}
