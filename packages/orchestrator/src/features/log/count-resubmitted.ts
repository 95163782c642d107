import type { LogKeys } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** More are not counted. */
const MAX_COUNTED = 10_000;

/**
 * For each later generation of the log, counts its receipts and signed events from before it began:
 * those that lost their place and that agents submitted again, and those that were still queued in
 * a spool. Ids grow with time, so this reads only what came since.
 */
export async function countResubmitted(
  tx: DatabaseTransaction,
  orgId: string,
): Promise<LogKeys["handed_in_again"]> {
  const generations = await tx
    .selectFrom("log_generations")
    .select(["generation", "tree_size", "event_id"])
    .where("org_id", "=", orgId)
    .execute();
  if (generations.length === 0) return [];
  // By itself: an engine that spreads the entries over machines joins no other table with them.
  const { rows } = await sql<LogKeys["handed_in_again"][number]>`
    with begun as (
      select generation.generation, generation.tree_size, event.created_at as at, substring(event.id from 5) as since,
        lead(generation.tree_size) over (order by generation.generation) as left_of_it
      from unnest(${generations.map((one) => one.generation)}::int[], ${generations.map((one) => one.tree_size)}::bigint[],
          ${generations.map((one) => one.event_id)}::text[]) as generation (generation, tree_size, event_id)
        join events as event on event.org_id = ${orgId} and event.id = generation.event_id)
    select generation,
      (select count(*) from (select from receipts where org_id = ${orgId} and id > 'rcpt_' || since
        and log_index > begun.tree_size and (left_of_it is null or log_index < left_of_it)
        and happened_at < begun.at limit ${MAX_COUNTED}) as again) as receipts,
      (select count(*) from (select from events where org_id = ${orgId} and id > 'evt_' || since
        and log_index > begun.tree_size and (left_of_it is null or log_index < left_of_it)
        and envelope is not null and occurred_at < begun.at limit ${MAX_COUNTED}) as again) as events
    from begun order by generation`.execute(tx);
  return rows;
}
