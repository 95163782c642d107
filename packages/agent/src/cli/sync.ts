import { plural } from "@attestore/proof";
import { listPending } from "../journal/pending-backup.ts";
import type { UserError } from "../errors/user-error.ts";
import { ServiceError } from "../transport/service-error.ts";
import { isOfOneBackup } from "../backends/attached/upload-and-register.ts";
import type { Run } from "./invocation/command.ts";
import { openBackend } from "./invocation/open-root.ts";
import { takeWorkLock } from "./invocation/work-lock.ts";

export const sync: Run = async (call) => {
  const { terminal, signal } = call;
  const { backend, config, layout, flags } = await openBackend(call);
  const line = terminal.progress();
  try {
    // The caller does not want to wait.
    const anyTime = { ...config, upload: { ...config.upload, windows: [] } };
    let delivered = 0;
    let blocked: ServiceError | UserError | null = null;
    if ((await listPending(layout)).length > 0) {
      using _ = await takeWorkLock(layout, "sync", {
        signal,
        wait: flags.isOn("wait", true),
        say: terminal.say,
      });
      for (const pending of await listPending(layout)) {
        try {
          await backend.deliver(anyTime, pending, {
            signal,
            onProgress: (bytes, total) => line.update("upload", bytes, total),
          });
          delivered++;
        } catch (error) {
          if (isOfOneBackup(error)) blocked ??= error;
          else if (error instanceof ServiceError) {
            blocked = error;
            break;
          } else throw error;
        }
      }
    }
    line.clear();
    const report = await backend.submit(signal);
    const waitingBackups = (await listPending(layout)).length;
    const stoppedBy = blocked ?? report.stoppedBy;
    if (flags.isOn("json")) {
      const { accepted, refused, unproven, waiting } = report;
      const counts = { backups_delivered: delivered, backups_waiting: waitingBackups };
      const stopped = stoppedBy === null ? null : { error: stoppedBy.code, message: stoppedBy.message };
      terminal.data(JSON.stringify({ ...counts, accepted, refused, unproven, waiting, stopped_by: stopped }));
    } else {
      terminal.data(
        `${plural(delivered, "backup")} uploaded, ${plural(report.accepted, "entry", "entries")} accepted, ${report.refused} rejected, ` +
          `${report.waiting + waitingBackups} still waiting`,
      );
      if (stoppedBy !== null) terminal.say(`${terminal.onTalk.warn("!")} ${stoppedBy.message}`);
      if (report.refused + report.unproven > 0) terminal.say("See `attestore status`.");
    }
    if (report.refused + report.unproven > 0) return 1;
    return report.waiting + waitingBackups > 0 ? 2 : 0;
  } finally {
    line.clear();
    backend.close();
  }
};
