import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { restoreTestIn } from "../../receipts/stored-statement.ts";
import { failedSince } from "./failed-since.ts";
import type { TroubleKind } from "./incident-store.ts";
import type { LoggedReceipt } from "./log-entries.ts";
import { shortText } from "./short-text.ts";
import { notifyDrift } from "./notify-drift.ts";
import { notifySuspicious } from "./notify-suspicious.ts";
import { notifyBeginning, notifyEnds } from "./notify-incident.ts";

const MAX_CHECKS = 20;

/** The incidents that a backup, or a passed restore test, ends. */
const SHOWN_TO_WORK: Readonly<Record<LoggedReceipt["kind"], readonly TroubleKind[]>> = {
  backup: ["backup_failed"],
  restore_test: ["restore_test_failed", "restore_test_could_not_run"],
};

/** Reports a receipt's news: a failed restore test, a recovery, suspicious data, and changes. */
export async function notifyReceipt(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  receipt: LoggedReceipt,
): Promise<void> {
  const { id, source_id: sourceId, agent_id: agentId, backup_id, created_at: at } = receipt;
  const named = { receipt_id: id, backup_id };
  const recovered = { at, resolution: "recovered" as const, more: named };
  await notifyEnds(tx, { about: { agentId }, kinds: ["attestation_failed"], ...recovered });
  const about = { sourceId };
  if (receipt.result !== "failed") {
    const since = await failedSince(tx, receipt);
    const kinds = SHOWN_TO_WORK[receipt.kind].filter((kind) => !since.has(kind));
    await notifyEnds(tx, { about, kinds, ...recovered });
  } else {
    await notifyEnds(tx, {
      about,
      kinds: ["restore_test_could_not_run"],
      at,
      resolution: "failed",
      more: named,
    });
    const more = { ...named, ...whatFailed(receipt.envelope) };
    await notifyBeginning(tx, { id, orgId, kind: "restore_test_failed", about, at, more });
  }
  await notifySuspicious(tx, orgId, receipt);
  await notifyDrift(tx, envelopes, orgId, receipt);
}

/**
 * The checks that did not hold, by id and expectation. Never what they saw, and never the receipt's
 * own reason: an agent writes the rows and values that it found into that.
 */
function whatFailed(envelope: Buffer): Record<string, unknown> {
  const { checks } = restoreTestIn(envelope);
  const failed = checks.filter(({ result }) => result === "failed");
  return {
    cause: { reason: failed.length > 0 ? "check_failed" : "nothing_shown" },
    failed_checks: failed
      .slice(0, MAX_CHECKS)
      .map(({ id, expectation }) => ({ id: shortText(id), expectation: shortText(expectation) })),
    failed_check_count: failed.length,
  };
}
