import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { spoolEvent } from "../receipts/spooled-event.ts";
import { fileStamp, type LogAlarm, LogAlarmError, readLogAlarm } from "../state/log-alarm.ts";

/** Records the alarm. An existing one stays, because it is closer to the cause. */
export async function raiseLogAlarm(layout: Layout, alarm: LogAlarm): Promise<LogAlarmError> {
  const standing = await readLogAlarm(layout);
  if (standing !== null) return new LogAlarmError(standing);
  // Reported first: after a crash before the alarm is written, the next heartbeat meets the same
  // checkpoint again.
  await spoolEvent(layout, `log-alarm-${fileStamp(alarm.raised_at)}`, {
    kind: "attestation_failed",
    occurred_at: alarm.raised_at,
    detail: { reason: alarm.reason, detail: alarm.detail, kept: alarm.kept, offered: alarm.offered },
  });
  await replaceJsonFile(layout.logAlarm, alarm);
  return new LogAlarmError(alarm);
}
