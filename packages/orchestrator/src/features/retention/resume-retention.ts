import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { loggedActor } from "../logged-actor.ts";
import { type ConfiguredSource, findConfigured } from "../sources/configured-source.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";
import { readHold, setResumed } from "./hold-store.ts";
import { listAvailable } from "./store.ts";
import { newestBytes } from "./sudden-change.ts";

/**
 * Continues a source's retention that a sudden change stopped: somebody has looked, and the backups
 * are right. Backups that no rule keeps are announced again and removed after the whole delay.
 * Throws `not_found`, and `conflict` if nothing is stopped.
 */
export async function resumeRetention(
  tx: DatabaseTransaction,
  { orgId, sourceId, actorId }: { orgId: string; sourceId: string; actorId: string },
  now: Date,
): Promise<ConfiguredSource> {
  await lockSourceAndLog(tx, { orgId, sourceId });
  const source = await findConfigured(tx, orgId, sourceId);
  if (source === null) throw notFound("source");
  const { held } = await readHold(tx, sourceId);
  if (held === null) throw new ApiError("conflict", "This source's retention is not stopped.");
  const bytes = newestBytes(await listAvailable(tx, sourceId));
  await setResumed(tx, sourceId, { at: now, bytes });
  const detail = { held_at: held.since.toISOString(), hold: held.hold, accepted_bytes: bytes };
  await appendInTransaction(tx, [
    { orgId, kind: "retention_resumed", sourceId, ...loggedActor(actorId, detail), occurredAt: now },
  ]);
  return source;
}
