import { timeOfId } from "@attestore/contract";
import { type NotProvenBecause, ProofHistory, receiptKind } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { type DatedReceipt, datedReceipts } from "./dated-receipts.ts";
import { lostBackups } from "./lost-backups.ts";

/**
 * Whether a source is proven, by the rule of packages/proof and this host's own receipts; null if
 * it is. What the service refused proves nothing, nor does a pass of a backup that it lost. A
 * refused failure still counts. Without an RPO, in seconds, it counts as 36 hours.
 */
export async function sourceProof(
  layout: Layout,
  sourceId: string,
  { now, rpo_s }: { readonly now: number; readonly rpo_s: number | undefined },
): Promise<NotProvenBecause | null> {
  const lost = await lostBackups(layout);
  const isRefused = ({ state, statement: { predicate } }: DatedReceipt): boolean =>
    state === "refused" || lost.has(predicate.backup_id);
  const receipts = (await datedReceipts(layout, now))
    .filter(({ statement }) => statement.predicate.source_id === sourceId)
    .filter((receipt) => !isRefused(receipt) || isFailure(receipt))
    .toReversed();
  const history = new ProofHistory();
  for (const [id, finishedAt] of backupsIn(receipts)) history.addBackup(id, finishedAt);
  for (const { statement, endedAt } of receipts)
    if ("result" in statement.predicate)
      history.addTest({
        backupId: statement.predicate.backup_id,
        result: statement.predicate.result,
        at: endedAt,
      });
  return history.notProvenBecause(now, rpo_s);
}

function isFailure({ statement: { predicate } }: DatedReceipt): boolean {
  return "result" in predicate && predicate.result === "failed";
}

/**
 * The oldest first. This host knows in which order it made its own backups. It does not know when a
 * backup of another host finished, so that counts as long ago, and has its place by its id.
 */
function backupsIn(receipts: readonly DatedReceipt[]): [id: string, finishedAt: number][] {
  const backups = new Map<string, { finishedAt: number; orderedAt: number }>();
  for (const { statement, endedAt, orderedAt } of receipts)
    if (receiptKind(statement) === "backup")
      backups.set(statement.predicate.backup_id, { finishedAt: endedAt, orderedAt });
  for (const { statement } of receipts) {
    const { backup_id: id } = statement.predicate;
    if (!backups.has(id)) backups.set(id, { finishedAt: Number.NEGATIVE_INFINITY, orderedAt: timeOfId(id) });
  }
  return [...backups]
    .toSorted(([, a], [, b]) => a.orderedAt - b.orderedAt)
    .map(([id, { finishedAt }]) => [id, finishedAt]);
}
