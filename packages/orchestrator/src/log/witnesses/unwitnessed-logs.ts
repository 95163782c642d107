import type { ClientBase, Pool } from "pg";

/** A log that grew so long ago should have been cosigned by an agent. */
export const WITNESSED_WITHIN = "25 hours";

/**
 * The organisations that have agents, none of which has cosigned the log as it was so long ago.
 * @returns their ids
 */
export async function findUnwitnessedLogs(database: ClientBase | Pool): Promise<string[]> {
  const { rows } = await database.query<{ org_id: string }>(
    `select logs.org_id from logs cross join lateral (
        select tree_size from log_emissions where log_emissions.org_id = logs.org_id
          and hour <= clock_timestamp() - interval '${WITNESSED_WITHIN}' order by hour desc limit 1) as old
      where old.tree_size > 0
        and exists (select from agents where agents.org_id = logs.org_id and status = 'active')
        and not exists (select from agents join agent_witnesses on agent_id = agents.id
          where agents.org_id = logs.org_id and cosignature is not null and agent_witnesses.tree_size >= old.tree_size)
      order by logs.org_id`,
  );
  return rows.map(({ org_id }) => org_id);
}
