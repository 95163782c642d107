import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { endCommandsOf } from "../commands/move-commands.ts";
import { loggedActor } from "../logged-actor.ts";
import { withdrawRuns } from "../schedules/runs.ts";
import { type ConfiguredSource, findConfigured, updateSource } from "../sources/configured-source.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";

/**
 * Ends everything that happens to a source by itself. Its backups, receipts, events and objects
 * stay. Throws `not_found`.
 */
export async function removeSource(
  tx: DatabaseTransaction,
  { orgId, sourceId, actorId }: { orgId: string; sourceId: string; actorId: string },
  now: Date,
): Promise<ConfiguredSource> {
  await lockSourceAndLog(tx, { orgId, sourceId });
  const source = await findConfigured(tx, orgId, sourceId);
  if (source === null) throw notFound("source");
  const removed = await updateSource(tx, sourceId, {
    removed_at: now,
    next_backup_at: null,
    next_restore_test_at: null,
  });
  await withdrawRuns(tx, sourceId, now);
  const { slug, name, engine, agent_id } = source;
  const [event] = await appendInTransaction(tx, [
    {
      orgId,
      kind: "source_removed",
      sourceId,
      ...loggedActor(actorId, { slug, name, engine, agent_id }),
      occurredAt: now,
    },
  ]);
  if (event === undefined) throw new Error("the log did not accept an event");
  await endCommandsOf(tx, { sourceId, eventId: event.event.id, at: now });
  return removed;
}
