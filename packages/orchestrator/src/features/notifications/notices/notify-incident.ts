import type { NotificationType } from "@attestore/contract";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { queueNotification } from "../../notification-queue/queue-notification.ts";
import { type About, beginTrouble, endTroubles, type Trouble, type TroubleKind } from "./incident-store.ts";
import { describeSubjects } from "./subjects.ts";

/** The messages for the beginning of an incident, and for its end when things work again. */
const TOLD_AS: Readonly<Record<TroubleKind, { begin: NotificationType; recovered: NotificationType }>> = {
  backup_failed: { begin: "backup.failed", recovered: "backup.recovered" },
  backup_missed: { begin: "backup.missed", recovered: "backup.recovered" },
  restore_test_failed: { begin: "restore_test.failed", recovered: "restore_test.recovered" },
  restore_test_could_not_run: { begin: "restore_test.could_not_run", recovered: "restore_test.recovered" },
  restore_test_missed: { begin: "restore_test.missed", recovered: "restore_test.recovered" },
  agent_silent: { begin: "agent.silent", recovered: "agent.recovered" },
  attestation_failed: { begin: "attestation.failed", recovered: "attestation.recovered" },
};

export interface Beginning {
  /** The event or receipt that begins it. */
  id: string;
  orgId: string;
  kind: TroubleKind;
  about: About;
  at: Date;
  /** Everything else that is known, for somebody who looks for the cause. */
  more: Record<string, unknown>;
}

/** Begins an incident and reports it, unless one of its kind is open. */
export async function notifyBeginning(
  tx: DatabaseTransaction,
  { id, orgId, kind, about, at, more }: Beginning,
): Promise<void> {
  if (!(await beginTrouble(tx, { id, orgId, kind, about, beganAt: at }))) return;
  await queueNotification(tx, {
    orgId,
    key: `${id} begins`,
    type: TOLD_AS[kind].begin,
    occurredAt: at,
    data: {
      ...(await describeSubjects(tx, orgId, about)),
      incident: { id, kind, began_at: at.toISOString(), ended_at: null },
      ...more,
    },
  });
}

/**
 * `recovered`: it works again. `failed`: the run that was missing or could not run did run, and
 * failed, which is a new incident. `withdrawn`: nobody waits for it any longer.
 */
export type Resolution = "recovered" | "failed" | "withdrawn";

/** Ends open incidents, and reports each. */
export async function notifyEnds(
  tx: DatabaseTransaction,
  end: {
    about: About;
    kinds: readonly TroubleKind[];
    at: Date;
    resolution: Resolution;
    more: Record<string, unknown>;
  },
): Promise<void> {
  for (const trouble of await endTroubles(tx, end.about, end.kinds, end.at))
    await notifyEnd(tx, trouble, end);
}

/** Tells that this incident, which ended in the same transaction, is over. */
export async function notifyEnd(
  tx: DatabaseTransaction,
  { id, org_id: orgId, kind, began_at }: Trouble,
  {
    about,
    at,
    resolution,
    more,
  }: { about: About; at: Date; resolution: Resolution; more: Record<string, unknown> },
): Promise<void> {
  await queueNotification(tx, {
    orgId,
    key: `${id} ends`,
    type: resolution === "recovered" ? TOLD_AS[kind].recovered : "incident.ended",
    occurredAt: at,
    data: {
      ...(await describeSubjects(tx, orgId, about)),
      incident: { id, kind, began_at: began_at.toISOString(), ended_at: at.toISOString(), resolution },
      ...more,
    },
  });
}
