import type { Config } from "../root/config.ts";
import type { SourceConfig } from "../root/source-config.ts";
import type { ReceiptFile } from "../receipts/receipt-files.ts";
import { signReceipt } from "../receipts/sign-receipt.ts";
import { restoreTestStatement, type RestoreTestOutcome } from "../receipts/statements.ts";
import { requireNoLogAlarm } from "../service/log-alarm.ts";
import { recoveryTime, type RecoveryTime } from "../runs/recovery-time.ts";
import { finishCommand } from "../spool/command-journal.ts";
import type { Home } from "./home.ts";
import type { RunOptions } from "./perform-backup.ts";
import { restoreAside } from "./restore-aside.ts";

export interface PerformedRestoreTest extends RestoreTestOutcome {
  readonly backupId: string;
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
  options: RunOptions & { readonly backupId: string | undefined },
): Promise<PerformedRestoreTest> {
  const { layout } = home;
  const { commandId } = options;
  await requireNoLogAlarm(layout);
  const { backup, outcome } = await restoreAside(home, config, source, options);
  const receipt = await signReceipt(
    layout,
    (previous) => restoreTestStatement(home, backup, outcome, previous),
    { commandId },
  );
  if (commandId !== null) await finishCommand(layout, commandId, `restore test ${outcome.result}`);
  return { ...outcome, backupId: backup.id, receipt, recovery: recoveryTime(outcome.phases, source.rto_s) };
}
