import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import { readLogEntries } from "./log-entries.ts";
import { notifyEvent } from "./notify-event.ts";
import { notifyReceipt } from "./notify-receipt.ts";

/** Entries of one transaction. */
const AT_ONCE = 100;

/**
 * Reads on in the logs that have grown, and writes what is to be told. The cursor moves in the
 * transaction that writes it: a crash leaves both or neither. Replicas take different logs, or find
 * the cursor moved. A log that cannot be read on holds up no other.
 */
export async function followLogs(db: Database, signal: AbortSignal): Promise<void> {
  await eachOf(await listGrown(db), signal, async (orgId) => {
    while (!signal.aborted && (await runInOrg(db, orgId, (tx) => followOn(tx, orgId))) === "more");
  });
}

/** Two small tables, whatever the number of logs that lie idle. */
async function listGrown(db: Database): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`
    select org_id from notification_cursors join logs using (org_id)
    where tree_size > log_index order by org_id`.execute(db);
  return rows.map(({ org_id }) => org_id);
}

async function followOn(tx: DatabaseTransaction, orgId: string): Promise<"more" | "done"> {
  const cursor = await tx
    .selectFrom("notification_cursors")
    .select("log_index")
    .where("org_id", "=", orgId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (cursor === undefined) return "done";
  const { tree_size } = await tx
    .selectFrom("logs")
    .select("tree_size")
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  const to = Math.min(tree_size, cursor.log_index + AT_ONCE);
  for (const entry of await readLogEntries(tx, orgId, { from: cursor.log_index, to }))
    await (entry.type === "event" ? notifyEvent(tx, orgId, entry) : notifyReceipt(tx, orgId, entry));
  await tx.updateTable("notification_cursors").set({ log_index: to }).where("org_id", "=", orgId).execute();
  return to < tree_size ? "more" : "done";
}
