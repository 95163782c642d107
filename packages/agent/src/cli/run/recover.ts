import type { Attachment } from "../../service/attachment.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import type { WaitingReceipt } from "../../receipts/sign-receipt.ts";
import { readJson } from "../../state/read-json.ts";
import { finishCommand, openCommands } from "../../journal/command-journal.ts";
import { listPending } from "../../journal/pending-backup.ts";
import { INTERRUPTED, reportFailure } from "../../backends/report-failure.ts";

/**
 * Finishes the work that a killed agent had started. A command whose receipt is signed is done; one
 * whose ciphertext is complete continues from there; any other has no result, is reported as
 * interrupted, and does not run a second time. The caller holds the `run` and `work` locks, so
 * nothing that was started is still running.
 */
export async function recoverCommands(attachment: Attachment): Promise<number> {
  const { layout } = attachment;
  const signed = new Set<string>();
  for (const file of await listReceipts(layout, "waiting")) {
    const waiting = (await readJson(file.path)) as WaitingReceipt | null;
    // One that is submitted by now had its command finished before it went.
    if (waiting !== null && waiting.command_id !== null) signed.add(waiting.command_id);
  }
  const pending = new Set((await listPending(layout)).map(({ command_id }) => command_id));
  let interrupted = 0;
  for (const { command, state, outcome } of await openCommands(layout)) {
    if (state === "received" || (pending.has(command.id) && !signed.has(command.id))) continue;
    if (state === "started" && !signed.has(command.id)) {
      interrupted++;
      await reportFailure(attachment, {
        kind: command.kind === "backup" ? "backup_failed" : "restore_failed",
        source: command.source.slug,
        commandId: command.id,
        backupId: command.params.backup_id,
        error: INTERRUPTED,
      });
      await finishCommand(layout, command.id, "interrupted");
    } else await finishCommand(layout, command.id, outcome ?? "receipt signed");
  }
  return interrupted;
}
