import type { EventEntry } from "./event-entry.ts";
import type { PlacedLeaf } from "./log-writes.ts";
import { pack, packHashes, plainArray } from "./packed.ts";
import type { SqlSession, Statement } from "./sql-session.ts";

const INSERT_EVENTS: Statement = {
  name: "log_insert_events",
  text: `insert into events (id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at, body, log_index,
      leaf_hash, created_at)
    select id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at,
      substring($9::bytea from start for length), log_index, substring($10::bytea from n::int * 32 - 31 for 32), created_at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
        $11::int[], $12::int[], $13::bigint[], $14::timestamptz[])
      with ordinality as events (id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at, start, length,
        log_index, created_at, n)`,
};

export interface PlacedEvent {
  event: EventEntry;
  placed: PlacedLeaf;
}

export function insertEvents(session: SqlSession, rows: readonly PlacedEvent[]): Promise<unknown> {
  const column = (value: (event: EventEntry) => string | undefined): string =>
    plainArray(rows.map(({ event }) => value(event) ?? null));
  const bodies = pack(rows.map(({ event }) => event.body));
  return session.run(INSERT_EVENTS, [
    column(({ id }) => id),
    column(({ orgId }) => orgId),
    column(({ kind }) => kind),
    column(({ sourceId }) => sourceId),
    column(({ backupId }) => backupId),
    column(({ commandId }) => commandId),
    column(({ actorId }) => actorId),
    column(({ occurredAt }) => occurredAt.toISOString()),
    bodies.bytes,
    packHashes(rows.map(({ placed }) => placed.leafHash)),
    bodies.starts,
    bodies.lengths,
    plainArray(rows.map(({ placed }) => placed.logIndex)),
    column(({ recordedAt }) => recordedAt.toISOString()),
  ]);
}
