import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** A receipt gets its id when it arrives, a little before it is recorded. */
const SUBMITTED_WITHIN_MS = 60_000;

/**
 * When the agent's last run after that moment ended, by the agent's clock; null if there is none.
 * Only receipts in the log count. A run can end after the moment at which its receipt was recorded
 * if the agent's clock is ahead; the column then has that later time.
 */
export async function lastRunAfter(
  tx: DatabaseTransaction,
  agentId: string,
  moment: Date,
): Promise<Date | null> {
  const { rows } = await sql<{ ended: Date | null }>`
    select max(ended) as ended
    from (
      -- All that is archived ended before it was recorded.
      select case when envelope is null then happened_at else attestore_happened_at(envelope, 'infinity') end as ended from receipts
      where agent_id = ${agentId} and id >= ${firstIdAt("receipt", moment.getTime() - SUBMITTED_WITHIN_MS)}
      union all
      select attestore_happened_at(envelope, 'infinity') from receipts
      where agent_id = ${agentId} and happened_at = created_at
    ) as signed
    where ended > ${moment}`.execute(tx);
  return rows[0]?.ended ?? null;
}
