import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { spoolEvent } from "../receipts/spooled-event.ts";
import { fileStamp, type LogAlarm, LogAlarmError, readLogAlarm } from "../state/log-alarm.ts";

/** Writes the alarm down; one that stands already stays, because it is nearer to the cause. */
export async function raiseLogAlarm(layout: Layout, alarm: LogAlarm): Promise<LogAlarmError> {
  const standing = await readLogAlarm(layout);
  if (standing !== null) return new LogAlarmError(standing);
  // Reported first: a crash before the alarm itself meets the same checkpoint again at the next
  // heartbeat.
  await spoolEvent(layout, `log-alarm-${fileStamp(alarm.raised_at)}`, {
    kind: "attestation_failed",
    occurred_at: alarm.raised_at,
    detail: { reason: alarm.reason, detail: alarm.detail, kept: alarm.kept, offered: alarm.offered },
  });
  await replaceJsonFile(layout.logAlarm, alarm);
  return new LogAlarmError(alarm);
}
