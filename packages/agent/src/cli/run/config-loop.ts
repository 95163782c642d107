import { journaledRequests, updateRequest } from "../../journal/config-requests.ts";
import { backoffDelay } from "../../transport/backoff.ts";
import { isPermanentRefusal, ServiceError } from "../../transport/service-error.ts";
import { carryOut } from "../remote-config/carry-out.ts";
import type { LoopContext } from "./loop-context.ts";
import { transientFailure } from "./transient-failure.ts";

const AFTER_FAILURE = { tries: Infinity, first_ms: 1_000, longest_ms: 60_000 };
/** Other processes of this root take requests too. */
const UNASKED_MS = 60_000;

/**
 * Carries out what people asked over the service of config.yaml, one request at a time, beside
 * backups and tests. An answer is on disk before it is sent, and sent until the service has it.
 */
export async function configLoop(run: LoopContext): Promise<void> {
  const { signal, say, attachment } = run;
  let failures = 0;
  while (!signal.aborted) {
    let wait_ms = UNASKED_MS;
    try {
      await answerAll(run);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const trouble = transientFailure(error, attachment.layout);
      if (trouble === null) throw error;
      failures += 1;
      wait_ms = backoffDelay(AFTER_FAILURE, failures, trouble.retryAfter_s);
      if (failures === 1) say(`answers to requests wait: ${trouble.message}`);
    }
    await run.requests.wait(wait_ms, signal);
  }
}

async function answerAll(run: LoopContext): Promise<void> {
  const { attachment, signal, say } = run;
  const { layout, service } = attachment;
  for (const entry of await journaledRequests(layout)) {
    if (signal.aborted) return;
    if (entry.state === "told") continue;
    const kind = entry.request?.kind ?? "unknown";
    const answer = entry.answer ?? (await carryOut(attachment, entry, { signal, say }));
    const answered =
      entry.answer === null ? await updateRequest(layout, entry, { state: "answered", answer }) : entry;
    if (entry.answer === null)
      say(
        `${entry.id}: ${kind} for ${entry.asked_by ?? "?"}: ${"result" in answer ? "done" : answer.refusal.message}`,
      );
    run.spool.ring();
    try {
      await service.answerConfigRequest(entry.id, answer, { signal, once: true, idempotencyKey: null });
    } catch (error) {
      // The service no longer knows the request, or does not take the answer: nobody waits for it.
      if (!(error instanceof ServiceError) || !isPermanentRefusal(error)) throw error;
      say(`${entry.id}: the service did not take the answer: ${error.message}`);
    }
    await updateRequest(layout, answered, { state: "told" });
  }
}
