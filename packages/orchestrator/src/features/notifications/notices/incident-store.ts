import { sql } from "kysely";
import type { DatabaseTransaction, NotificationIncidentsTable } from "../../../platform/database/schema.ts";

export type TroubleKind = NotificationIncidentsTable["kind"];

export interface Trouble {
  id: string;
  org_id: string;
  kind: TroubleKind;
  source_id: string | null;
  agent_id: string | null;
  began_at: Date;
}

/** The source or agent that has the trouble. */
export type About = { sourceId: string } | { agentId: string };

/** False if one of that kind is open already; that one continues. */
export async function beginTrouble(
  tx: DatabaseTransaction,
  {
    id,
    orgId,
    kind,
    about,
    beganAt,
  }: { id: string; orgId: string; kind: TroubleKind; about: About; beganAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("notification_incidents")
    .values({
      id,
      org_id: orgId,
      kind,
      source_id: "sourceId" in about ? about.sourceId : null,
      agent_id: "agentId" in about ? about.agentId : null,
      began_at: beganAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Ends the open incidents of these kinds and returns them. Of several callers at once, each
 * incident goes to one.
 */
export async function endTroubles(
  tx: DatabaseTransaction,
  about: About,
  kinds: readonly TroubleKind[],
  at: Date,
): Promise<Trouble[]> {
  const [column, id] =
    "sourceId" in about ? (["source_id", about.sourceId] as const) : (["agent_id", about.agentId] as const);
  return tx
    .updateTable("notification_incidents")
    .set({ ended_at: at })
    .where(column, "=", id)
    .where(sql<boolean>`kind = any(${[...kinds]})`)
    .where("ended_at", "is", null)
    .returning(["id", "org_id", "kind", "source_id", "agent_id", "began_at"])
    .execute();
}

/** Ends this one; null if it has ended already. */
export async function endTrouble(tx: DatabaseTransaction, id: string, at: Date): Promise<Trouble | null> {
  const row = await tx
    .updateTable("notification_incidents")
    .set({ ended_at: at })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .returning(["id", "org_id", "kind", "source_id", "agent_id", "began_at"])
    .executeTakeFirst();
  return row ?? null;
}
