import type { AgentSpool } from "@attestore/contract";
import { listReceipts } from "./receipt-files.ts";
import type { Layout } from "../state/layout.ts";
import { listPending } from "../journal/pending-backup.ts";
import { listEvents } from "./spooled-event.ts";

/** The number of items queued for the service. */
export async function spoolDepth(layout: Layout): Promise<AgentSpool> {
  return {
    backups: (await listPending(layout)).length,
    receipts: (await listReceipts(layout, "waiting")).length,
    events: (await listEvents(layout.eventsWaiting)).length,
  };
}
