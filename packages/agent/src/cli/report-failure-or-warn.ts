import { errorCode } from "@attestore/host/errno";
import type { Terminal } from "./terminal/terminal.ts";
import type { BackupBackend } from "../backends/backup-backend.ts";
import type { FailedRun } from "../backends/report-failure.ts";

/**
 * As the backend does. Where this host's disk takes no report, that is said, and what kept the run
 * from its result stays what the command ends with: on a full disk the one follows from the other.
 */
export async function reportFailureOrWarn(
  backend: BackupBackend,
  terminal: Terminal,
  failed: FailedRun,
  signal: AbortSignal,
): Promise<void> {
  try {
    await backend.reportFailure(failed, signal);
  } catch (error) {
    if (!(error instanceof Error) || errorCode(error) === null) throw error;
    terminal.say(`${terminal.onTalk.warn("!")} this failure can't be recorded for the log: ${error.message}`);
  }
}
