import { plural } from "@attestore/proof";
import type { Layout } from "../../state/layout.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import { spoolDepth } from "../../receipts/spool-depth.ts";
import { listEvents } from "../../receipts/spooled-event.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/** Entries that wait for the service, and those that it refused. */
export async function examineSpool(layout: Layout): Promise<Finding[]> {
  const { backups, receipts, events } = await spoolDepth(layout);
  const refused =
    (await listReceipts(layout, "refused")).length + (await listEvents(layout.eventsRefused)).length;
  const waits = `${plural(backups, "backup")}, ${plural(receipts, "receipt")}, ${plural(events, "event")} waiting`;
  const findings = [
    backups + receipts + events === 0
      ? ok("spool", "nothing waits")
      : warning("spool", waits, "attestore sync"),
  ];
  if (refused > 0) {
    findings.push(
      failed(
        "refused",
        plural(refused, "receipt or event", "receipts or events"),
        `read the .answer.json beside each in ${layout.receiptsRefused}`,
      ),
    );
  }
  return findings;
}
