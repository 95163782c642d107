import { plural } from "@attestore/proof";
import { backoffDelay } from "../../transport/backoff.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { submitWaiting } from "../../backends/attached/submit-waiting.ts";
import type { LoopContext } from "./loop-context.ts";
import { transientFailure } from "./transient-failure.ts";

const AFTER_FAILURE = { tries: Infinity, first_ms: 1_000, longest_ms: 15 * 60_000 };
/**
 * How often the spool is checked without being asked: other processes of this root add to it too.
 */
const UNASKED_MS = 60_000;

/** Submits receipts and events, in order, until each has its answer. */
export async function submitLoop(run: LoopContext): Promise<void> {
  const { attachment, signal, say } = run;
  let failures = 0;
  while (!signal.aborted) {
    let wait_ms = UNASKED_MS;
    try {
      const report = await submitWaiting(attachment, { signal, once: true });
      if (report.accepted > 0)
        say(
          `${plural(report.accepted, "receipt or event", "receipts and events")} accepted, proofs verified`,
        );
      if (report.refused > 0) say(`${report.refused} rejected by the service: see \`attestore status\``);
      if (report.unproven > 0) say("the service's answer came without a valid proof: see `attestore status`");
      const { stoppedBy } = report;
      failures = stoppedBy === null && report.unproven === 0 ? 0 : failures + 1;
      if (failures > 0) {
        const retryAfter_s = stoppedBy instanceof ServiceError ? stoppedBy.retryAfter_s : null;
        wait_ms = backoffDelay(AFTER_FAILURE, failures, retryAfter_s);
        if (failures === 1 && stoppedBy !== null) say(`${report.waiting} wait: ${stoppedBy.message}`);
      }
    } catch (error) {
      if (signal.aborted) return;
      const trouble = transientFailure(error, attachment.layout);
      if (trouble === null) throw error;
      failures++;
      wait_ms = backoffDelay(AFTER_FAILURE, failures, trouble.retryAfter_s);
      if (failures === 1) say(trouble.message);
    }
    await run.spool.wait(wait_ms, signal);
  }
}
