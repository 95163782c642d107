import { sql } from "kysely";
import type { Database } from "../../../platform/database/schema.ts";

/** A delivery that this replica may try until the lease ends. */
export interface Due {
  id: string;
  orgId: string;
  channelId: string;
  /** The number of this attempt, and the number since it was last asked for. */
  attempt: number;
  attemptOfRound: number;
  messageId: string;
}

interface Row {
  id: string;
  org_id: string;
  channel_id: string;
  attempts: number;
  attempts_before: number;
  notification_id: string;
}

/**
 * Takes deliveries that are due, for `lease_s`. Takes at most one of each channel, and none of a
 * channel that is being delivered to: a slow receiver takes up only one place, and messages that
 * are due at once arrive in order. Of several replicas only one gets each delivery. If that replica
 * dies, the delivery is due again when the lease ends.
 */
export async function takeDue(
  db: Database,
  { count, lease_s }: { count: number; lease_s: number },
): Promise<Due[]> {
  const { rows } = await sql<Row>`
    with first as (
      select distinct on (channel_id) id from notification_deliveries as due
      where status = 'pending' and next_attempt_at <= now() and not exists (
        select from notification_deliveries as others
        where others.channel_id = due.channel_id and others.leased_until > now())
      order by channel_id, next_attempt_at
    )
    update notification_deliveries set attempts = attempts + 1,
      next_attempt_at = now() + make_interval(secs => ${lease_s}::int), leased_until = now() + make_interval(secs => ${lease_s}::int)
    where id in (
      select id from notification_deliveries where id in (select id from first) and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit ${count}::int for update skip locked)
    returning id, org_id, channel_id, attempts, attempts_before, notification_id`.execute(db);
  return rows.map(({ id, org_id, channel_id, attempts, attempts_before, notification_id }) => ({
    id,
    orgId: org_id,
    channelId: channel_id,
    attempt: attempts,
    attemptOfRound: attempts - attempts_before,
    messageId: notification_id,
  }));
}
