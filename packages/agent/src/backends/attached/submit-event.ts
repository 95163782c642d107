import { join } from "node:path";
import { moveFile, removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Attachment } from "../../service/attachment.ts";
import { isPermanentRefusal, ServiceError } from "../../transport/service-error.ts";
import { observeCheckpoint } from "../../log/witness.ts";
import { readWaitingEvent, type EventFile } from "../../receipts/spooled-event.ts";
import type { Submitted, SubmitOptions } from "./submit-receipt.ts";
import { requireProvenEvent, UnprovenAnswer } from "./verify-answer.ts";

/** The same as `submitReceipt`, for an event. @throws ServiceError, LogAlarmError */
export async function submitEvent(
  attachment: Attachment,
  file: EventFile,
  { signal, once }: SubmitOptions,
): Promise<Pick<Submitted, "outcome">> {
  const { layout, service } = attachment;
  const { event, envelope, idempotency_key: idempotencyKey } = await readWaitingEvent(file);
  const signed = envelope === undefined ? {} : { envelope };
  const name = `${file.name}.json`;
  try {
    const answer = await service.submitEvent({ ...event, ...signed }, { signal, idempotencyKey, once });
    try {
      await requireProvenEvent(attachment, event, envelope, answer);
    } catch (error) {
      if (!(error instanceof UnprovenAnswer)) throw error;
      // No event about an event: the answer to it would be just as unproven.
      await replaceJsonFile(join(layout.alarms, `event-${name}`), {
        at: new Date().toISOString(),
        why: error.message,
        answer,
      });
      return { outcome: "unproven" };
    }
    await observeCheckpoint(attachment, answer.checkpoint, signal);
    await replaceJsonFile(join(layout.events, name), { v: 1, event, ...signed, answer });
    await removeFile(file.path);
    return { outcome: "accepted" };
  } catch (error) {
    if (!(error instanceof ServiceError) || !isPermanentRefusal(error)) throw error;
    const answer = { why: error.message, refusal: error.refusal, refused_at: new Date().toISOString() };
    await replaceJsonFile(join(layout.eventsRefused, `${file.name}.answer.json`), answer);
    await moveFile(file.path, join(layout.eventsRefused, name));
    return { outcome: "refused" };
  }
}
