import { errorCode } from "@attestore/host/errno";
import type { Terminal } from "../terminal/terminal.ts";
import type { Home } from "./home.ts";
import type { FailedRun } from "./report-failure.ts";

/**
 * As the home does. Where this host's disk takes no report, that is said, and what kept the run from its result stays what
 * the command ends with: on a full disk the one follows from the other.
 */
export async function reportFailureOrSay(
  home: Home,
  terminal: Terminal,
  failed: FailedRun,
  signal: AbortSignal,
): Promise<void> {
  try {
    await home.reportFailure(failed, signal);
  } catch (error) {
    if (!(error instanceof Error) || errorCode(error) === null) throw error;
    terminal.say(
      `${terminal.onTalk.warn("!")} this failure can't be written down for the log: ${error.message}`,
    );
  }
}
