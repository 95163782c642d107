import { errorCode } from "@attestore/host/errno";
import type { Terminal } from "../terminal/terminal.ts";
import { noSpace } from "../../errors/no-space.ts";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import type { FailedRun } from "../../backends/report-failure.ts";

/**
 * Reports through the backend. If this host's disk can't store the report, it only warns, and the
 * command still ends with the original error. On a full disk one follows from the other.
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
    const why = noSpace(error) ?? error.message;
    terminal.say(`${terminal.onTalk.warn("!")} this failure can't be recorded for the log: ${why}`);
  }
}
