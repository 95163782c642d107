import { formatDuration } from "../terminal/times.ts";
import { formatBytes } from "@attestore/proof";
import { RunError } from "../../errors/run-error.ts";
import { isOfOneBackup } from "../../backends/attached/upload-and-register.ts";
import { listPending } from "../../journal/pending-backup.ts";
import type { Config } from "../../config/config.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { Run } from "../invocation/command.ts";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import { originalText } from "./original-text.ts";
import { chosenSource, configNow, openBackend, requireSource } from "../invocation/open-root.ts";
import { runBackup } from "./run-backup.ts";
import { reportFailureOrWarn } from "../outcome/report-failure-or-warn.ts";
import { notPinned } from "../../receipts/require-pinned.ts";
import { printReceiptStatus } from "../outcome/print-receipt-status.ts";
import { sourceCheckLines } from "../outcome/source-check-lines.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

export const backup: Run = async (call) => {
  const { terminal, signal } = call;
  const root = await openBackend(call);
  const { backend, layout, flags } = root;
  const source = chosenSource(root);
  const line = terminal.progress();
  const begun = new Date().toISOString();
  try {
    let made;
    {
      using _ = await takeWorkLock(layout, "backup", {
        signal,
        wait: flags.isOn("wait", true),
        say: terminal.say,
      });
      const config = await configNow(root);
      await deliverLeftOver(backend, config, signal);
      terminal.note(`Backing up ${source.slug} (${source.engine}).`);
      made = await runBackup(backend, config, requireSource({ config, layout }, source.slug), {
        commandId: null,
        signal,
        onProgress: line.update,
      });
    }
    line.clear();
    const submitted = await backend.submitReceipt(made.receipt, signal);
    if (flags.isOn("json")) {
      terminal.data(
        JSON.stringify({
          backup_id: made.backupId,
          source: source.slug,
          sha256: made.sha256,
          size_bytes: made.sizeBytes,
          started_at: made.startedAt,
          finished_at: made.finishedAt,
          ...(made.original === null ? {} : { original: made.original }),
          source_check: made.sourceCheck,
          ...(made.hidden.length === 0 ? {} : { may_lack: made.hidden }),
          receipt: submitted.state,
          receipt_id: submitted.receiptId,
          log_index: submitted.logIndex,
          receipt_file: submitted.file,
        }),
      );
    } else {
      const took = formatDuration(Date.parse(made.finishedAt) - Date.parse(made.startedAt));
      const { good } = terminal.onData;
      terminal.data(
        `${good("✓")} ${made.backupId}  ${formatBytes(made.sizeBytes)} stored, dumped in ${took}`,
      );
      const original = originalText(made.original);
      if (original !== null) terminal.data(`It refers to ${original}`);
      if (!made.isPinned) terminal.say(`${terminal.onTalk.warn("!")} ${notPinned(source.slug)}`);
      for (const told of sourceCheckLines(source.slug, made.sourceCheck))
        terminal.say(`${terminal.onTalk.warn("!")} ${told}`);
      for (const each of made.hidden)
        terminal.say(
          `${terminal.onTalk.warn("!")} ${source.slug}: the backup lacks ${each}, if there are any`,
        );
      printReceiptStatus(terminal, submitted);
      terminal.note(`Prove that it restores: attestore restore-test --source ${source.slug}`);
    }
    return submitted.isWrong ? 2 : 0;
  } catch (error) {
    line.clear();
    const isPending = (await listPending(layout)).some(
      (each) => each.source === source.slug && each.finished_at >= begun,
    );
    if (isPending) {
      terminal.say(
        root.config.standalone === null
          ? "The encrypted backup is complete and queued in blobs/. `attestore sync` uploads it, and so does a running `attestore run`."
          : "The encrypted backup is complete and queued in blobs/. `attestore sync` stores it, and so does the next `attestore backup`.",
      );
    } else if (error instanceof RunError && error.code !== "interrupted") {
      await reportFailureOrWarn(
        backend,
        terminal,
        {
          kind: "backup_failed",
          source: source.slug,
          commandId: null,
          error,
        },
        signal,
      );
    }
    throw error;
  } finally {
    backend.close();
  }
};

/**
 * Tries to store what an earlier run finished but could not store. If that still fails, this backup
 * will fail for the same reason, and the message then says why.
 */
async function deliverLeftOver(backend: BackupBackend, config: Config, signal: AbortSignal): Promise<void> {
  for (const pending of await listPending(backend.layout)) {
    try {
      await backend.deliver(config, pending, { signal });
    } catch (error) {
      if (isOfOneBackup(error)) continue;
      if (error instanceof ServiceError || error instanceof RunError) return;
      throw error;
    }
  }
}
