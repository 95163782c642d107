import { equalBytes, formatLogName, LOG_HEAD_LOST, LOG_ROLLED_BACK, plural, toHex } from "@attestore/proof";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import { type LogGeneration, readGenerations } from "../heads/generations.ts";
import { logOrigin } from "../checkpoints/log-keys.ts";
import type { Check } from "./check.ts";

/** More lost heads than this are compared by their number only. */
const MAX_NAMED = 100_000;

const EVENTS: PreparedQuery = {
  name: "fsck_generation_events",
  text: `select id, kind, actor_id, log_index, body, created_at from events
    where org_id = $1 and kind in ('${LOG_ROLLED_BACK}', '${LOG_HEAD_LOST}') and actor_id = 'service'
    order by log_index limit ${MAX_NAMED}`,
};

const LOST: PreparedQuery = {
  name: "fsck_lost_heads",
  text: `select origin, tree_size, root_hash, event_id from log_lost_heads where org_id = $1
    order by origin, tree_size limit ${MAX_NAMED}`,
};

const ROOT: PreparedQuery = {
  name: "fsck_generation_root",
  text: "select root_hash from log_heads where org_id = $1 and tree_size = $2",
};

interface EventRow {
  id: string;
  kind: string;
  log_index: number;
  body: Buffer;
}

interface HeadJson {
  origin?: string;
  tree_size?: number;
  root_hash?: string;
}

/**
 * Compares a log's generations and lost heads with their events: each generation follows the one
 * before, and began where its event is, with the root of the entries before it. Leaves, bodies and
 * heads are compared elsewhere. Returns the origin of the present generation, and the remaining
 * sizes of those that ended.
 */
export async function checkGenerations(
  check: Check,
): Promise<{ origin: string; ended: ReadonlyMap<string, number> }> {
  const { session, identity, orgId, report } = check;
  const first = logOrigin(identity.host, orgId);
  const generations = await readGenerations(session, orgId);
  const events = new Map(
    (await session.run<EventRow & Record<string, unknown>>(EVENTS, [orgId])).map((row) => [row.id, row]),
  );
  const said = new Set<string>();
  for (const [n, stored] of generations.entries()) {
    const what = `generation ${stored.generation}`;
    const [ended, origin] = [n + 1, n + 2].map((generation) => formatLogName({ first, generation }));
    if (stored.generation !== n + 2 || stored.ended !== ended || stored.origin !== origin)
      report("generation", `${what} is ${stored.origin} after ${stored.ended}, and should be ${origin}`);
    if (n > 0 && stored.size <= (generations[n - 1]?.size ?? 0))
      report("generation", `${what} began with no more entries than the one before it`);
    const [head] = await session.run<{ root_hash: Buffer }>(ROOT, [orgId, stored.size]);
    if (head === undefined || !equalBytes(head.root_hash, stored.rootHash))
      report("generation", `${what} began with another root than the log has at ${stored.size}`);
    const event = events.get(stored.eventId);
    const detail = event === undefined ? null : detailOf(event);
    if (event?.kind !== LOG_ROLLED_BACK || detail === null || !begins(stored, event, detail)) {
      report("generation", `${what} began with ${stored.eventId}, and that event does not say so`);
      continue;
    }
    events.delete(event.id);
    for (const { tree_size, root_hash } of detail.lost ?? [])
      said.add(`${stored.ended} ${tree_size} ${root_hash}`);
  }
  for (const event of events.values()) {
    const detail = detailOf(event);
    if (event.kind === LOG_ROLLED_BACK)
      report("generation", `${event.id} began a generation that the log does not have`);
    else said.add(`${detail?.origin} ${detail?.tree_size} ${detail?.root_hash}`);
  }
  const left = new Map(generations.map(({ ended, size }) => [ended, size]));
  await compareLost(check, said, left);
  return { origin: generations.at(-1)?.origin ?? first, ended: left };
}

/** Compares the heads that events name as lost with those that the database lists as lost. */
async function compareLost(
  { session, orgId, report }: Check,
  said: Set<string>,
  left: ReadonlyMap<string, number>,
): Promise<void> {
  type Row = { origin: string; tree_size: number; root_hash: Buffer };
  for (const { origin, tree_size, root_hash } of await session.run<Row>(LOST, [orgId])) {
    const what = `a head of ${origin} with ${plural(tree_size, "entry", "entries")}`;
    if (!said.delete(`${origin} ${tree_size} ${toHex(root_hash)}`))
      report("generation", `${what} counts as lost, but no event says so`);
    if (tree_size <= (left.get(origin) ?? Infinity))
      report("generation", `${what} is named as lost, but that many entries were left: the log was forked`);
  }
  for (const head of said)
    report("generation", `an event names the head ${head} as lost, and the database does not know it`);
}

interface Detail extends HeadJson {
  generation?: number;
  ended?: string;
  lost?: HeadJson[];
}

function begins(stored: LogGeneration, { log_index }: EventRow, detail: Detail): boolean {
  return (
    log_index === stored.size &&
    detail.tree_size === stored.size &&
    detail.root_hash === toHex(stored.rootHash) &&
    detail.generation === stored.generation &&
    detail.ended === stored.ended
  );
}

/** Null for a body that is not JSON; that is a finding of its own. */
function detailOf({ body }: EventRow): Detail | null {
  try {
    return (JSON.parse(body.toString("utf8")) as { detail: Detail }).detail;
  } catch {
    return null;
  }
}
