import type { LogKeys } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** More are not counted. */
const MAX_COUNTED = 10_000;

/**
 * For each later generation of the log, how many receipts and signed events came into it that are
 * of before it began: those whose place was lost and that agents handed in again, and those that
 * still waited in a spool. Ids grow with the time, so only what came since is read.
 */
export async function countHandedInAgain(
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
