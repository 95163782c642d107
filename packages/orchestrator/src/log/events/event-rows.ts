import type { EventEntry } from "./event-entry.ts";
import type { PlacedLeaf } from "../append/log-writes.ts";
import { pack, packHashes, plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

// Returns something because Citus would COPY the rows otherwise, which row-level security forbids.
const INSERT_EVENTS: PreparedQuery = {
  name: "log_insert_events",
  text: `insert into events (id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at, body, log_index,
      leaf_hash, created_at, envelope, envelope_sha256, payload_sha256, previous_receipt_sha256)
    select id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at,
      substring($9::bytea from start for length), log_index, substring($10::bytea from n::int * 32 - 31 for 32), created_at,
      case when envelope_sha256 is not null then substring($15::bytea from envelope_start for envelope_length) end,
      decode(envelope_sha256, 'hex'), decode(payload_sha256, 'hex'), decode(previous, 'hex')
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
        $11::int[], $12::int[], $13::bigint[], $14::timestamptz[], $16::int[], $17::int[], $18::text[], $19::text[],
        $20::text[])
      with ordinality as events (id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at, start, length,
        log_index, created_at, envelope_start, envelope_length, envelope_sha256, payload_sha256, previous, n)
    returning 1`,
};

export interface PlacedEvent {
  event: EventEntry;
  placed: PlacedLeaf;
}

export function insertEvents(session: SqlSession, rows: readonly PlacedEvent[]): Promise<unknown> {
  const column = (value: (event: EventEntry) => string | undefined): string =>
    plainArray(rows.map(({ event }) => value(event) ?? null));
  const envelopes = pack(rows.map(({ event }) => event.signed?.json ?? new Uint8Array()));
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
    envelopes.bytes,
    envelopes.starts,
    envelopes.lengths,
    column(({ signed }) => signed?.envelopeSha256.toString("hex")),
    column(({ signed }) => signed?.payloadSha256.toString("hex")),
    column(({ signed }) => signed?.previousSha256 ?? undefined),
  ]);
}
