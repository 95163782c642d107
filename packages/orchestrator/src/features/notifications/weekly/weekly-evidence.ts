import { sql } from "kysely";
import type { Database } from "../../../platform/database/schema.ts";
import { runInOrg } from "../../../platform/database/org-scope.ts";
import type { JobContext } from "../../../platform/jobs/job.ts";
import { queueNotification } from "../../notification-queue/queue-notification.ts";
import { lastWholeWeek } from "./iso-week.ts";

/**
 * Queues the mail about the week that is over for every organisation that asked for it. The week is
 * in the message's key: it is queued once, whatever replicas and crashes do. A service that was
 * away on Monday makes up for the last week, and for none before.
 */
export async function queueWeeklyEvidence(
  db: Database,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  const week = lastWholeWeek(now);
  const key = `evidence of ${week.name}`;
  const { rows } = await sql<{ id: string }>`
    select id from orgs where exists (
        select from notification_channels where org_id = orgs.id and weekly_evidence
          and removed_at is null and disabled_at is null and created_at < ${week.to})
      and not exists (select from notifications where org_id = orgs.id and key = ${key})
    order by id`.execute(db);
  for (const { id } of rows) {
    if (signal.aborted) return;
    await runInOrg(db, id, async (tx) => {
      const org = await tx
        .selectFrom("orgs")
        .select(["id", "name"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      await queueNotification(
        tx,
        {
          orgId: id,
          key,
          type: "evidence.weekly",
          occurredAt: week.to,
          data: { org, week: week.name, from: week.from.toISOString(), to: week.to.toISOString() },
        },
        "weekly_evidence",
      );
    });
  }
}
