import { sql } from "kysely";
import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { Database, DatabaseTransaction } from "../../../platform/database/schema.ts";
import { runInOrg } from "../../../platform/database/org-scope.ts";
import { eachOf } from "../../../platform/jobs/each-of.ts";
import { readLogEntries } from "./log-entries.ts";
import { notifyEvent } from "./notify-event.ts";
import { notifyReceipt } from "./notify-receipt.ts";

/** How many entries one transaction handles. */
const AT_ONCE = 100;

/**
 * Reads the logs that have grown, and writes the messages. The cursor moves in the transaction that
 * writes them, so a crash leaves both or neither. Replicas take different logs, or find that the
 * cursor has moved. A log that can't be read does not block the others.
 */
export async function followLogs(
  db: Database,
  envelopes: ArchivedEnvelopes,
  signal: AbortSignal,
): Promise<void> {
  await eachOf(await listGrown(db), signal, async (orgId) => {
    while (!signal.aborted && (await runInOrg(db, orgId, (tx) => followOn(tx, envelopes, orgId))) === "more");
  });
}

/** Reads two small tables, however many logs are idle. */
async function listGrown(db: Database): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`
    select org_id from notification_cursors join logs using (org_id)
    where tree_size > log_index order by org_id`.execute(db);
  return rows.map(({ org_id }) => org_id);
}

async function followOn(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  orgId: string,
): Promise<"more" | "done"> {
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
  for (const entry of await readLogEntries(tx, envelopes, orgId, { from: cursor.log_index, to }))
    await (entry.type === "event"
      ? notifyEvent(tx, orgId, entry)
      : notifyReceipt(tx, envelopes, orgId, entry));
  await tx.updateTable("notification_cursors").set({ log_index: to }).where("org_id", "=", orgId).execute();
  return to < tree_size ? "more" : "done";
}
