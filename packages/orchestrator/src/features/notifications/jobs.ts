import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { Job } from "../../platform/jobs/job.ts";
import { followLogs } from "./notices/follow-logs.ts";
import { noticeEnds } from "./notices/notice-ends.ts";
import { queueWeeklyEvidence } from "./weekly/weekly-evidence.ts";
import { removeOld } from "./deliveries/remove-old.ts";

export function notificationJobs({ db, envelopes }: { db: Database; envelopes: ArchivedEnvelopes }): Job[] {
  return [
    {
      name: "notify",
      every_s: 5,
      run: async ({ signal }) => {
        try {
          await followLogs(db, envelopes, signal);
        } finally {
          await noticeEnds(db, signal);
        }
      },
    },
    { name: "weekly_evidence", every_s: 600, run: (context) => queueWeeklyEvidence(db, context) },
    { name: "remove_notifications", every_s: 3600, run: ({ now, signal }) => removeOld(db, { now, signal }) },
  ];
}
