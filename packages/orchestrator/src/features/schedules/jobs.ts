import type { Job } from "../../platform/jobs/job.ts";
import { noticeMissed } from "./notice-missed.ts";
import { noticeSilence } from "./notice-silence.ts";
import { queueDue } from "./queue-due.ts";
import type { SchedulesDeps } from "./settings.ts";

export function scheduleJobs(deps: SchedulesDeps): Job[] {
  return [
    { name: "queue_due", every_s: 10, run: (context) => queueDue(deps, context) },
    { name: "notice_missed", every_s: 30, run: (context) => noticeMissed(deps, context) },
    { name: "notice_silence", every_s: 30, run: (context) => noticeSilence(deps, context) },
  ];
}
