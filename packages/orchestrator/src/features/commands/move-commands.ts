import type { CommandKind } from "@attestore/contract";
import { sql } from "kysely";
import { notifyAgent } from "../../platform/database/agent-notices.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";

/** Moves commands that were not delivered yet to another agent. */
export async function moveQueuedCommands(
  tx: DatabaseTransaction,
  { sourceId, kind, from, to }: { sourceId: string; kind: CommandKind; from: string; to: string },
): Promise<void> {
  await tx
    .updateTable("commands")
    .set({ agent_id: to })
    .where("source_id", "=", sourceId)
    .where("kind", "=", kind)
    .where("agent_id", "=", from)
    .where("status", "=", "queued")
    .where("ended_at", "is", null)
    .execute();
  await notifyAgent(tx, to);
}

/** A command that the agent did not acknowledge is not delivered to it again. */
export async function endOpenCommands(
  tx: DatabaseTransaction,
  { sourceId, kind, agentId, at }: { sourceId: string; kind: CommandKind; agentId: string; at: Date },
): Promise<void> {
  await tx
    .updateTable("commands")
    .set({ ended_at: at })
    .where("source_id", "=", sourceId)
    .where("kind", "=", kind)
    .where("agent_id", "=", agentId)
    .where("status", "<>", "acked")
    .where("ended_at", "is", null)
    .execute();
}

/**
 * Cancels the commands of a source that was removed. They name that event and are no longer
 * delivered.
 */
export async function endCommandsOf(
  tx: DatabaseTransaction,
  { sourceId, eventId, at }: { sourceId: string; eventId: string; at: Date },
): Promise<void> {
  await tx
    .updateTable("commands")
    .set({
      ended_at: at,
      outcome: sql`outcome || ${JSON.stringify({ event_id: eventId })}::jsonb`,
    })
    .where("source_id", "=", sourceId)
    .where("outcome", "=", sql<never>`'{}'::jsonb`)
    .where("ended_at", "is", null)
    .execute();
}
