import type { ErrorCode } from "@attestore/contract";
import type { Refusal } from "../transport/service-error.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { answerOf, listReceipts, readStatement } from "./receipt-files.ts";

const UNKNOWN: ErrorCode = "backup_unknown";

/**
 * The backups of which this host has receipts and the service has no record, each with its source's
 * id, oldest first. It refused their receipts for that, as after it lost the end of its log. They
 * cannot be restored through the service.
 */
export async function lostBackups(layout: Layout): Promise<Map<string, string>> {
  const lost = new Map<string, string>();
  for (const file of await listReceipts(layout, "refused")) {
    const answer = (await readJson(answerOf(file.path))) as {
      refusal?: Refusal | null;
    } | null;
    if (answer?.refusal?.error !== UNKNOWN) continue;
    const statement = await readStatement(file);
    if (statement !== null) lost.set(statement.predicate.backup_id, statement.predicate.source_id);
  }
  return lost;
}
