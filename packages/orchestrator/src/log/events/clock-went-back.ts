import { CLOCK_WENT_BACK, isServiceLeaf, parseLeaf, ProofError } from "@attestore/proof";
import { MAX_CLOCKS_APART_MS } from "../clock-off.ts";
import { eventEntry, type NewEvent } from "./event-entry.ts";
import type { PlacedEvent } from "./event-rows.ts";
import type { LockedLog } from "../append/locked-log.ts";
import type { LogAppends } from "../append/log-appends.ts";
import type { PreparedQuery, SqlSession } from "../../platform/database/sql-session.ts";

/** More entries than the service itself writes while a clock is wrong for a while. */
const MOST = 1000;

const HEAD_UNTIL: PreparedQuery = {
  name: "log_head_until",
  text: `select coalesce(max(tree_size), 0)::bigint as size from log_heads
    where org_id = $1 and recorded_at <= $2`,
};

const LEAVES_FROM: PreparedQuery = {
  name: "log_leaves_from",
  text: "select log_index, leaf from log_leaves where org_id = $1 and log_index >= $2 order by log_index limit $3",
};

/**
 * Where the newest entries are dated later than now, an event comes first that names them: without
 * it nobody could tell whether their times were made up to move them out of a period. Only entries
 * that the service itself wrote are named. If an agent's are among them, then the clock of now may
 * as well be the wrong one.
 */
export async function nameDatedLater(
  session: SqlSession,
  locked: ReadonlyMap<string, LockedLog>,
  logs: LogAppends,
  now: Date,
): Promise<PlacedEvent[]> {
  const placed: PlacedEvent[] = [];
  for (const log of locked.values()) {
    const event = await datedLater(session, log, now);
    if (event === null) continue;
    const entry = eventEntry(event, now);
    placed.push({ event: entry, placed: logs.append(log.orgId, entry.leaf) });
  }
  return placed;
}

async function datedLater(
  session: SqlSession,
  { orgId, newestAt, range }: LockedLog,
  now: Date,
): Promise<NewEvent | null> {
  const later = new Date(now.getTime() + MAX_CLOCKS_APART_MS);
  if (newestAt === null || newestAt <= later) return null;
  const [head] = await session.run<{ size: number }>(HEAD_UNTIL, [orgId, later]);
  const rows = await session.run<{ log_index: number; leaf: Buffer }>(LEAVES_FROM, [
    orgId,
    head?.size ?? 0,
    MOST + 1,
  ]);
  const [first] = rows;
  if (first === undefined || rows.length > MOST || !rows.every(({ leaf }) => isOwn(leaf))) return null;
  return {
    orgId,
    kind: CLOCK_WENT_BACK,
    actorId: "service",
    occurredAt: now,
    detail: {
      first_index: first.log_index,
      last_index: range.size - 1,
      newest_recorded_at: newestAt.toISOString(),
    },
  };
}

/** No longer known if a later version of the service wrote it. */
function isOwn(leaf: Uint8Array): boolean {
  try {
    return isServiceLeaf(parseLeaf(leaf));
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}
