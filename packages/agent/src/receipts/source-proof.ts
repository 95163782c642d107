import { type NotProvenBecause, ProofHistory, receiptKind, type Statement } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { listAllReceipts, readStatement } from "./receipt-files.ts";

/**
 * Whether a source is proven, by the rule of packages/proof and this host's own receipts; null if
 * it is. Without an RPO, in seconds, it counts as 36 hours.
 */
export async function sourceProof(
  layout: Layout,
  sourceId: string,
  { now, rpo_s }: { readonly now: number; readonly rpo_s: number | undefined },
): Promise<NotProvenBecause | null> {
  const statements: Statement[] = [];
  for (const file of await listAllReceipts(layout)) {
    const statement = await readStatement(file);
    if (statement?.predicate.source_id === sourceId) statements.push(statement);
  }
  // The newest comes first there.
  statements.reverse();
  const history = new ProofHistory();
  for (const [id, finishedAt] of backupsIn(statements)) history.addBackup(id, finishedAt);
  for (const { predicate } of statements)
    if ("result" in predicate)
      history.addTest({
        backupId: predicate.backup_id,
        result: predicate.result,
        at: Date.parse(predicate.finished_at),
      });
  return history.notProvenBecause(now, rpo_s);
}

/**
 * Ordered by id, which is by time. This host does not know when a backup of another host finished,
 * so that counts as long ago.
 */
function backupsIn(statements: readonly Statement[]): [id: string, finishedAt: number][] {
  const backups = new Map<string, number>();
  for (const statement of statements) {
    const { backup_id: id, finished_at } = statement.predicate;
    if (receiptKind(statement) === "backup") backups.set(id, Date.parse(finished_at));
    else if (!backups.has(id)) backups.set(id, Number.NEGATIVE_INFINITY);
  }
  return [...backups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
