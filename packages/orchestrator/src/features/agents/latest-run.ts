import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** An id is made when the receipt comes in, a little before it is recorded. */
const SUBMITTED_WITHIN_MS = 60_000;

/**
 * When the last of the agent's runs ended, as it signed, of those that are in the log and ended
 * after that moment; null for none. There are such where the agent's clock was ahead. They were
 * recorded since, or say a later moment than they were recorded at, which the column then has.
 */
export async function lastRunAfter(
  tx: DatabaseTransaction,
  agentId: string,
  moment: Date,
): Promise<Date | null> {
  const { rows } = await sql<{ ended: Date | null }>`
    select max(ended) as ended
    from (
      select attestore_happened_at(envelope, 'infinity') as ended from receipts
      where agent_id = ${agentId} and id >= ${firstIdAt("receipt", moment.getTime() - SUBMITTED_WITHIN_MS)}
      union all
      select attestore_happened_at(envelope, 'infinity') from receipts
      where agent_id = ${agentId} and happened_at = created_at
    ) as signed
    where ended > ${moment}`.execute(tx);
  return rows[0]?.ended ?? null;
}
