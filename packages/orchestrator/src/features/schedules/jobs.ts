import { endedLater } from "../../platform/jobs/claim.ts";
import type { Job } from "../../platform/jobs/job.ts";
import { rescheduleFromNow } from "./clock-went-back.ts";
import { noticeMissed } from "./notice-missed.ts";
import { noticeSilence } from "./notice-silence.ts";
import { queueDue } from "./queue-due.ts";
import type { SchedulesDeps } from "./settings.ts";

const QUEUE_DUE = "queue_due";

export function scheduleJobs(deps: SchedulesDeps): Job[] {
  return [
    {
      name: QUEUE_DUE,
      every_s: 10,
      run: async (context) => {
        if (await endedLater(deps.db, QUEUE_DUE, context.now)) await rescheduleFromNow(deps, context);
        await queueDue(deps, context);
      },
    },
    { name: "notice_missed", every_s: 30, run: (context) => noticeMissed(deps, context) },
    { name: "notice_silence", every_s: 30, run: (context) => noticeSilence(deps, context) },
  ];
}
