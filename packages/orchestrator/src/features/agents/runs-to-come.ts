import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/**
 * When the last of the agent's runs ended, as it signed, of those that are in the log and ended after that moment; null for none. There are such where
 * the agent's clock was ahead. The receipts that say a later moment than they were recorded at have that one in the column, so that no others have to be read.
 */
export async function lastRunAfter(
  tx: DatabaseTransaction,
  agentId: string,
  moment: Date,
): Promise<Date | null> {
  const { rows } = await sql<{ ended: Date | null }>`
    select max(ended) as ended
    from (select attestore_happened_at(envelope, 'infinity') as ended from receipts
      where agent_id = ${agentId} and (happened_at > ${moment} or happened_at = created_at)) as signed
    where ended > ${moment}`.execute(tx);
  return rows[0]?.ended ?? null;
}
