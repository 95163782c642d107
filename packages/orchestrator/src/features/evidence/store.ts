import type { SourcePolicy } from "@attestore/proof";
import { type RawBuilder, sql } from "kysely";
import { type ArchivedEnvelopes, ENVELOPE_PLACE } from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { EvidencePeriod } from "./period.ts";

async function rows<Row>(db: Database, query: RawBuilder<Row>): Promise<Row[]> {
  return (await query.execute(db)).rows;
}

export async function readOrgName(db: Database, orgId: string): Promise<string | null> {
  const row = await db.selectFrom("orgs").select("name").where("id", "=", orgId).executeTakeFirst();
  return row?.name ?? null;
}

/** An hourly checkpoint. */
export interface PublishedCheckpoint {
  size: number;
  emittedAt: Date;
  checkpoint: string;
}

const PUBLISHED = sql`tree_size as size, emitted_at as "emittedAt", checkpoint`;

/**
 * The last one that was signed at or before that moment. One that a wrong clock dated too early
 * does not count: entries of the period are before it in the log.
 */
export async function publishedBefore(
  db: Database,
  orgId: string,
  moment: Date,
  size: number,
): Promise<PublishedCheckpoint | null> {
  const [row] = await rows<PublishedCheckpoint>(
    db,
    sql`select ${PUBLISHED} from log_emissions
      where org_id = ${orgId} and hour <= ${moment} and emitted_at <= ${moment} and tree_size <= ${size}
        and not exists (select from log_heads as its where its.org_id = log_emissions.org_id
          and its.tree_size = log_emissions.tree_size and recorded_at > ${moment})
      order by hour desc limit 1`,
  );
  return row ?? null;
}

/**
 * The first one that was signed at or after that moment, and by now. One that a wrong clock dated
 * too late does not count: entries of the period come after it in the log, and the pack would lack
 * them.
 */
export async function publishedAfter(
  db: Database,
  orgId: string,
  { moment, now }: { moment: Date; now: Date },
  size: number,
): Promise<PublishedCheckpoint | null> {
  const [row] = await rows<PublishedCheckpoint>(
    db,
    sql`select ${PUBLISHED} from log_emissions
      where org_id = ${orgId} and hour > ${moment}::timestamptz - interval '1 hour' and emitted_at >= ${moment}
        and emitted_at <= ${now} and tree_size <= ${size}
        and coalesce((select recorded_at from log_heads as later where later.org_id = log_emissions.org_id
          and later.tree_size > log_emissions.tree_size order by later.tree_size limit 1) >= ${moment}, true)
      order by hour limit 1`,
  );
  return row ?? null;
}

/** The runs that were scheduled in the period. */
export async function latestDeadline(
  db: Database,
  orgId: string,
  { from, to }: EvidencePeriod,
): Promise<Date | null> {
  const row = await db
    .selectFrom("scheduled_runs")
    .select((expression) => expression.fn.max("deadline_at").as("latest"))
    .where("org_id", "=", orgId)
    .where("scheduled_at", ">=", from)
    .where("scheduled_at", "<", to)
    .executeTakeFirst();
  return row?.latest ?? null;
}

export async function listPolicySources(db: Database, orgId: string): Promise<SourcePolicy[]> {
  const found = await db
    .selectFrom("sources")
    .select([
      "id",
      "slug",
      "name",
      "engine",
      "agent_id",
      "test_agent_id",
      "created_at",
      "removed_at",
      "schedule",
      "retention",
      "objectives",
    ])
    .where("org_id", "=", orgId)
    .orderBy("id")
    .execute();
  return found.map(({ created_at, removed_at, retention, ...source }) => ({
    ...source,
    created_at: created_at.toISOString(),
    removed_at: removed_at?.toISOString() ?? null,
    retention: retention === null ? null : { ...retention },
  }));
}

/** Log index of each source's last backup receipt before that id. */
export async function listBackupsBefore(
  db: Database,
  {
    orgId,
    sourceIds,
    before,
    size,
  }: { orgId: string; sourceIds: readonly string[]; before: string; size: number },
): Promise<number[]> {
  if (sourceIds.length === 0) return [];
  const found = await rows<{ log_index: number }>(
    db,
    sql`select latest.log_index from unnest(${sourceIds}::text[]) as source (id)
      cross join lateral (
        select log_index from receipts
        where org_id = ${orgId} and source_id = source.id and kind = 'backup' and receipts.id < ${before} and log_index < ${size}
        order by receipts.id desc limit 1) as latest`,
  );
  return found.map(({ log_index }) => log_index);
}

/** How many receipts and events of an agent are searched for the one before its next receipt. */
const FOLLOWS_WITHIN = 1000;

/**
 * Log indexes of the receipts and signed events before the range to which entries of the period
 * refer (`previous_receipt_sha256`). With these, a pack can show that nothing between them was left
 * out. `near` is an id a little older than the range; older entries need not be searched.
 */
export async function listPredecessors(
  db: Database,
  orgId: string,
  {
    from,
    until,
    near,
    range,
  }: { from: string; until: string; near: string; range: { from: number; to: number } },
): Promise<number[]> {
  const found = await rows<{ log_index: number }>(
    db,
    sql`with follows as materialized (
        select agent_id, previous_receipt_sha256 as previous from receipts
        where org_id = ${orgId} and id >= ${from} and id < ${until} and log_index < ${range.to}
          and previous_receipt_sha256 is not null
        union
        select actor_id, previous_receipt_sha256 from events
        where org_id = ${orgId} and id >= ${eventId(from)} and id < ${eventId(until)} and log_index < ${range.to}
          and previous_receipt_sha256 is not null),
      near as materialized (
        select payload_sha256 from receipts
        where org_id = ${orgId} and id >= ${near} and id < ${until} and log_index >= ${range.from}
          and log_index < ${range.to}
        union all
        select payload_sha256 from events
        where org_id = ${orgId} and id >= ${eventId(near)} and id < ${eventId(until)} and log_index >= ${range.from}
          and log_index < ${range.to} and payload_sha256 is not null),
      open as materialized (
        select agent_id, previous from follows
        where not exists (select 1 from near where payload_sha256 = previous))
      select distinct before.log_index from open
      cross join lateral (
        (select log_index, payload_sha256 from receipts
        where agent_id = open.agent_id and org_id = ${orgId} and id < ${from} and log_index < ${range.from}
        order by id desc limit ${FOLLOWS_WITHIN})
        union all
        (select log_index, payload_sha256 from events
        where actor_id = (open.agent_id collate "default") and org_id = ${orgId} and id < ${eventId(from)} and log_index < ${range.from}
          and envelope_sha256 is not null
        order by id desc limit ${FOLLOWS_WITHIN})) as before
      where before.payload_sha256 = open.previous`,
  );
  return found.map(({ log_index }) => log_index);
}

/**
 * Ids of a kind are in the order of time, and compare with ids of another kind by the part after
 * the prefix.
 */
function eventId(receiptId: string): string {
  return receiptId.replace(/^rcpt_/, "evt_");
}

/** Log index of each source's last change before that moment, and of its removal. */
export async function listChangesBefore(
  db: Database,
  orgId: string,
  before: Date,
  size: number,
): Promise<number[]> {
  const found = await rows<{ log_index: number }>(
    db,
    sql`select distinct on (source_id, kind) log_index from events
      where org_id = ${orgId} and kind in ('source_configured', 'source_removed') and created_at < ${before}
        and log_index < ${size}
      order by source_id, kind, id desc`,
  );
  return found.map(({ log_index }) => log_index);
}

export interface LeafRow {
  log_index: number;
  leaf: Buffer;
}

/** Leaves from `from` up to, but without, `to`, in their order. */
export async function readLeaves(db: Database, orgId: string, from: number, to: number): Promise<LeafRow[]> {
  return db
    .selectFrom("log_leaves")
    .select(["log_index", "leaf"])
    .where("org_id", "=", orgId)
    .where("log_index", ">=", from)
    .where("log_index", "<", to)
    .orderBy("log_index")
    .execute();
}

/** The leaves at these indexes, in the log's order. */
export async function readLeavesAt(
  db: Database,
  orgId: string,
  indexes: readonly number[],
): Promise<LeafRow[]> {
  if (indexes.length === 0) return [];
  return db
    .selectFrom("log_leaves")
    .select(["log_index", "leaf"])
    .where("org_id", "=", orgId)
    .where("log_index", "in", [...indexes])
    .orderBy("log_index")
    .execute();
}

export interface ReceiptBody {
  id: string;
  envelope: Buffer;
}

export async function readReceiptBodies(
  db: Database,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, ReceiptBody>> {
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom("receipts")
    .select(ENVELOPE_PLACE)
    .where("id", "in", [...ids])
    .where("org_id", "=", orgId)
    .execute();
  return new Map(envelopes.complete(found).map((row) => [row.id, row]));
}

export async function readEventBodies(
  db: Database,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, { body: Buffer; envelope: Buffer | null }>> {
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom("events")
    .select(["id", "body", "envelope"])
    .where("id", "in", [...ids])
    .where("org_id", "=", orgId)
    .execute();
  return new Map(found.map(({ id, ...event }) => [id, event]));
}
