import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { queueNotification } from "../notification-queue/queue-notification.ts";

/**
 * The shortest time between two messages to an organisation: with many sources, a few backups go
 * every day.
 */
const TOLD_EVERY_MS = 86_400_000;
/** How many sources a message names. */
const MAX_SOURCES = 20;

/**
 * Tells each organisation which backups are announced to be removed: once a day, or at once if one
 * goes sooner than that. No backup goes before this message is queued.
 */
export async function notifyRemovals(
  db: Database,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  const { rows } = await sql<{ org_id: string; first_at: Date }>`
    select org_id, min(expires_at) as first_at from backups
    where status = 'available' and expires_at is not null and removal_told_at is null
    group by org_id order by org_id`.execute(db);
  await eachOf(rows, signal, async ({ org_id, first_at }) => {
    await runInOrg(db, org_id, async (tx) => {
      const isUrgent = first_at.getTime() - now.getTime() < TOLD_EVERY_MS;
      if (isUrgent || !(await wasToldLately(tx, org_id, now))) await notify(tx, org_id, now);
    });
  });
}

const KEY = "removals ";

async function wasToldLately(tx: DatabaseTransaction, orgId: string, now: Date): Promise<boolean> {
  const since = `${KEY}${new Date(now.getTime() - TOLD_EVERY_MS).toISOString()}`;
  const row = await tx
    .selectFrom("notifications")
    .select("id")
    .where("org_id", "=", orgId)
    .where("type", "=", "retention.announced")
    .where("key", ">", since)
    .executeTakeFirst();
  return row !== undefined;
}

interface Removals {
  source_id: string;
  slug: string;
  name: string;
  backups: number;
  bytes: number;
  first_at: Date;
}

/**
 * Everything that is announced, including what an earlier message told: the newest message is
 * always complete.
 */
async function notify(tx: DatabaseTransaction, orgId: string, now: Date): Promise<void> {
  await tx
    .updateTable("backups")
    .set({ removal_told_at: now })
    .where("org_id", "=", orgId)
    .where("status", "=", "available")
    .where("expires_at", "is not", null)
    .where("removal_told_at", "is", null)
    .execute();
  const { rows } = await sql<Removals>`
    select sources.id as source_id, slug, name, count(*)::int as backups, sum(size_bytes)::bigint as bytes, min(expires_at) as first_at
    from backups join sources on sources.id = backups.source_id
    where backups.org_id = ${orgId} and backups.status = 'available' and expires_at is not null
    group by sources.id, slug, name order by backups desc, slug`.execute(tx);
  const org = await tx
    .selectFrom("orgs")
    .select(["id", "name"])
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  const first = new Date(Math.min(...rows.map(({ first_at }) => first_at.getTime())));
  await queueNotification(tx, {
    orgId,
    key: `${KEY}${now.toISOString()}`,
    type: "retention.announced",
    occurredAt: now,
    data: {
      org,
      removals: {
        backups: rows.reduce((sum, { backups }) => sum + backups, 0),
        bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
        first_at: first.toISOString(),
      },
      sources: rows.slice(0, MAX_SOURCES).map(({ source_id, slug, name, backups, first_at }) => ({
        source: { id: source_id, slug, name },
        backups,
        first_at: first_at.toISOString(),
      })),
      source_count: rows.length,
    },
  });
}
