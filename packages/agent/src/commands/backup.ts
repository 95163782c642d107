import { formatBytes, formatDuration } from "../terminal/amounts.ts";
import { CouldNotRun } from "../runs/could-not-run.ts";
import { ServiceError } from "../service/service-error.ts";
import { listPending } from "../spool/pending-backup.ts";
import { submitWaiting } from "../spool/submit-waiting.ts";
import type { Run } from "./command.ts";
import { chosenSource, openAttachedRoot } from "./open-root.ts";
import { performBackup } from "./perform-backup.ts";
import { reportFailure } from "./report-failure.ts";
import { submitAndFollow } from "./submitted-receipt.ts";
import { takeWorkLock } from "./work-lock.ts";

export const backup: Run = async (call) => {
  const { terminal, signal } = call;
  const root = await openAttachedRoot(call);
  const { attachment, config, layout, flags } = root;
  const source = chosenSource(root);
  const line = terminal.progress();
  try {
    let made;
    {
      using _ = await takeWorkLock(layout, "backup", {
        signal,
        wait: flags.isOn("wait", true),
        say: terminal.say,
      });
      terminal.say(`Backing up ${source.slug} (${source.engine}).`);
      made = await performBackup(attachment, config, source, {
        commandId: null,
        signal,
        onProgress: line.update,
      });
    }
    line.clear();
    const fate = await submitAndFollow(attachment, made.receipt, signal);
    if (flags.isOn("json")) {
      terminal.data(
        JSON.stringify({
          backup_id: made.backupId,
          source: source.slug,
          sha256: made.sha256,
          size_bytes: made.sizeBytes,
          started_at: made.startedAt,
          finished_at: made.finishedAt,
          receipt: fate.state,
          receipt_id: fate.receiptId,
          log_index: fate.logIndex,
          receipt_file: fate.file,
        }),
      );
    } else {
      const took = formatDuration(Date.parse(made.finishedAt) - Date.parse(made.startedAt));
      const { good, warn } = terminal.onData;
      terminal.data(
        `${good("✓")} ${made.backupId}  ${formatBytes(made.sizeBytes)} stored, dumped in ${took}`,
      );
      terminal.data(
        fate.state === "accepted"
          ? `${good("✓")} ${fate.receiptId ?? ""}  in the log at ${fate.logIndex ?? ""}, proof verified`
          : `${warn("!")} the receipt is ${fate.state}: ${fate.why ?? "see `attestore status`"}`,
      );
      terminal.say(`Prove that it restores: attestore restore-test --source ${source.slug}`);
    }
    return fate.isWrong ? 2 : 0;
  } catch (error) {
    line.clear();
    const isPending =
      error instanceof ServiceError &&
      (await listPending(layout)).some((each) => each.source === source.slug);
    if (isPending) {
      terminal.say(
        "The encrypted backup is whole and waits in blobs/. `attestore sync`, or a running `attestore run`, uploads it.",
      );
    } else if (error instanceof CouldNotRun && error.code !== "interrupted") {
      await reportFailure(attachment, {
        kind: "backup_failed",
        source: source.slug,
        commandId: null,
        error,
      });
      await submitWaiting(attachment, { signal, once: true });
    }
    throw error;
  } finally {
    attachment.service.close();
  }
};
