import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { eventEntry, type EventEntry, type NewEvent } from "./event-entry.ts";
import { insertEvents } from "./event-rows.ts";
import { nameDatedLater } from "./clock-went-back.ts";
import { LogAppends } from "../append/log-appends.ts";
import { lockLogs, type LockedLog } from "../append/locked-log.ts";
import { LogCorruption } from "../log-corruption.ts";
import type { PlacedLeaf } from "../append/log-writes.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";

export interface AppendedEvent {
  event: EventEntry;
  placed: PlacedLeaf;
}

/**
 * Appends the service's events in the caller's transaction, so that a change and its entry commit
 * together. The logs stay locked until that transaction ends, so append late in the
 * transaction and end it soon.
 *
 * A transaction that changes agents.status must append its event here: the lock makes a revocation
 * immediate for submissions that are in flight.
 *
 * Throws LogCorruption; ProofError `not_canonicalizable` for a detail that JSON cannot express.
 */
export async function appendInTransaction(
  tx: DatabaseTransaction,
  events: readonly NewEvent[],
): Promise<AppendedEvent[]> {
  const session = transactionSession(tx);
  const locked = await lockLogs(session, new Set(events.map(({ orgId }) => orgId)));
  const sound = requireSound(locked);
  const grown = new LogAppends(sound);
  const now = new Date();
  const dated = await nameDatedLater(session, sound, grown, now);
  const appended = events.map((event) => {
    const entry = eventEntry(event, now);
    return { event: entry, placed: grown.append(entry.orgId, entry.leaf) };
  });
  const tiles = await grown.completeTiles(session);
  await Promise.all([insertEvents(session, [...dated, ...appended]), ...grown.write(session, tiles, now)]);
  return appended;
}

function requireSound(locked: ReadonlyMap<string, LockedLog | LogCorruption>): Map<string, LockedLog> {
  const sound = new Map<string, LockedLog>();
  for (const [orgId, log] of locked) {
    if (log instanceof LogCorruption) throw log;
    sound.set(orgId, log);
  }
  return sound;
}
