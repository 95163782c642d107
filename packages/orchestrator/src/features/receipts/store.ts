import type { PlacedEntry } from "../../log/sequencer/entry.ts";
import { byteaArray, pack, packHashes, plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import type { BackupFacts } from "./match.ts";
import { happenedAt, type ReceiptEntry } from "./receipt-entry.ts";

const RECORDED: PreparedQuery = {
  name: "receipts_recorded",
  text: "select envelope_sha256, log_index from receipts where envelope_sha256 = any($1::bytea[])",
};

/** Log index by envelope (base64 of envelope_sha256), for those that the log has. */
export async function readRecorded(
  session: SqlSession,
  envelopes: readonly Buffer[],
): Promise<Map<string, number>> {
  type Row = { envelope_sha256: Buffer; log_index: number };
  const rows = await session.run<Row>(RECORDED, [byteaArray(envelopes)]);
  return new Map(rows.map((row) => [row.envelope_sha256.toString("base64"), row.log_index]));
}

const BACKUPS: PreparedQuery = {
  name: "receipts_backups",
  text: `select backups.id, backups.org_id, source_id, backups.agent_id, sha256, size_bytes,
      backups.created_at as registered_at, sources.agent_id as source_agent_id, sources.test_agent_id as source_test_agent_id
    from backups join sources on sources.id = backups.source_id
    where backups.id = any($1::text[])`,
};

export async function readBackups(
  session: SqlSession,
  ids: ReadonlySet<string>,
): Promise<Map<string, BackupFacts>> {
  const rows = await session.run<BackupFacts & Record<string, unknown>>(BACKUPS, [plainArray([...ids])]);
  return new Map(rows.map((row) => [row.id, row]));
}

type Placed = readonly PlacedEntry<ReceiptEntry>[];

// Returns something because Citus would COPY the rows otherwise, which row-level security forbids.
const INSERT: PreparedQuery = {
  name: "receipts_insert",
  text: `insert into receipts (id, org_id, kind, source_id, agent_id, backup_id, result, envelope_sha256, payload_sha256,
      previous_receipt_sha256, envelope, log_index, leaf_hash, created_at, happened_at)
    select id, org_id, kind, source_id, agent_id, backup_id, result, substring($8::bytea from n::int * 32 - 31 for 32),
      substring($9::bytea from n::int * 32 - 31 for 32), decode(previous, 'hex'),
      substring($10::bytea from start for length), log_index, substring($11::bytea from n::int * 32 - 31 for 32), created_at, happened_at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $12::text[],
        $13::int[], $14::int[], $15::bigint[], $16::timestamptz[], $17::timestamptz[])
      with ordinality as rows (id, org_id, kind, source_id, agent_id, backup_id, result, previous, start, length,
        log_index, created_at, happened_at, n)
    returning 1`,
};

export function insertReceipts(session: SqlSession, placed: Placed): Promise<unknown> {
  const column = (value: (entry: ReceiptEntry) => string | null): string =>
    plainArray(placed.map(({ entry }) => value(entry)));
  const envelopes = pack(placed.map(({ entry }) => entry.envelope));
  return session.run(INSERT, [
    column(({ id }) => id),
    column(({ orgId }) => orgId),
    column(({ kind }) => kind),
    column(({ statement }) => statement.predicate.source_id),
    column(({ agentId }) => agentId),
    column(({ statement }) => statement.predicate.backup_id),
    column(({ result }) => result),
    packHashes(placed.map(({ entry }) => entry.envelopeSha256)),
    packHashes(placed.map(({ entry }) => entry.payloadSha256)),
    envelopes.bytes,
    packHashes(placed.map(({ leafHash }) => leafHash)),
    column(({ statement }) => statement.predicate.previous_receipt_sha256),
    envelopes.starts,
    envelopes.lengths,
    plainArray(placed.map(({ logIndex }) => logIndex)),
    column(({ recordedAt }) => recordedAt.toISOString()),
    column(happenedAt),
  ]);
}

const MARK_BACKED_UP: PreparedQuery = {
  name: "receipts_mark_backed_up",
  text: `update sources set last_backup_at = greatest(last_backup_at, latest.at)
    from unnest($1::text[], $2::timestamptz[]) as latest (id, at) where sources.id = latest.id`,
};

/** One update for each source. */
export function markBackedUp(session: SqlSession, placed: Placed): Promise<unknown> {
  return session.run(
    MARK_BACKED_UP,
    latest(placed, ({ statement }) => statement.predicate.source_id),
  );
}

const LINK: PreparedQuery = {
  name: "receipts_link_commands",
  text: `update commands set outcome = outcome || jsonb_build_object('receipt_id', made.receipt_id)
    from unnest($1::text[], $2::text[]) as made (receipt_id, backup_id)
    join backups on backups.id = made.backup_id where commands.id = backups.command_id`,
};

/** The record of the command that asked for a backup also names the backup's receipt. */
export function linkCommands(session: SqlSession, made: Placed): Promise<unknown> {
  return session.run(LINK, [
    plainArray(made.map(({ entry }) => entry.id)),
    plainArray(made.map(({ entry }) => entry.statement.predicate.backup_id)),
  ]);
}

const LINK_TESTS: PreparedQuery = {
  name: "receipts_link_test_commands",
  text: `update commands set outcome = outcome || jsonb_build_object('receipt_id', linked.receipt_id)
    from (select asked.id, tested.receipt_id
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as tested (receipt_id, source_id, backup_id, agent_id),
      lateral (select commands.id from commands
        where commands.source_id = tested.source_id and commands.agent_id = tested.agent_id and kind = 'restore_test'
          and params ->> 'backup_id' = tested.backup_id and status <> 'queued' and outcome = '{}' and ended_at is null
        order by commands.id limit 1) as asked) as linked
    where commands.id = linked.id`,
};

/**
 * A restore test's receipt names no command: it is the outcome of the oldest one that this agent
 * has for that backup.
 */
export function linkTestCommands(session: SqlSession, tested: Placed): Promise<unknown> {
  return session.run(LINK_TESTS, [
    plainArray(tested.map(({ entry }) => entry.id)),
    plainArray(tested.map(({ entry }) => entry.statement.predicate.source_id)),
    plainArray(tested.map(({ entry }) => entry.statement.predicate.backup_id)),
    plainArray(tested.map(({ entry }) => entry.agentId)),
  ]);
}

const LINK_ANSWERED: PreparedQuery = {
  name: "receipts_link_answered_commands",
  text: `update commands set outcome = outcome || jsonb_build_object('receipt_id', answered.receipt_id)
    from unnest($1::text[], $2::text[]) as answered (receipt_id, command_id) where commands.id = answered.command_id`,
};

/** The same if the command is known. */
export function linkAnsweredCommands(
  session: SqlSession,
  answered: readonly (readonly [receiptId: string, commandId: string])[],
): Promise<unknown> {
  return session.run(LINK_ANSWERED, [
    plainArray(answered.map(([receiptId]) => receiptId)),
    plainArray(answered.map(([, commandId]) => commandId)),
  ]);
}

const MARK_BACKUPS_PROVEN: PreparedQuery = {
  name: "receipts_mark_backups_proven",
  text: `update backups set proven_at = greatest(proven_at, latest.at)
    from unnest($1::text[], $2::timestamptz[]) as latest (id, at) where backups.id = latest.id`,
};

const MARK_SOURCES_PROVEN: PreparedQuery = {
  name: "receipts_mark_sources_proven",
  text: `update sources set last_proven_at = greatest(last_proven_at, latest.at)
    from unnest($1::text[], $2::timestamptz[]) as latest (id, at) where sources.id = latest.id`,
};

export function markProven(session: SqlSession, placed: Placed): Promise<unknown>[] {
  return [
    session.run(
      MARK_BACKUPS_PROVEN,
      latest(placed, ({ statement }) => statement.predicate.backup_id),
    ),
    session.run(
      MARK_SOURCES_PROVEN,
      latest(placed, ({ statement }) => statement.predicate.source_id),
    ),
  ];
}

const MARK_FAILED: PreparedQuery = {
  name: "receipts_mark_backups_failed",
  text: `update backups set failed_at = latest.at, failed_receipt_id = latest.receipt_id
    from unnest($1::text[], $2::timestamptz[], $3::text[]) as latest (id, at, receipt_id)
    where backups.id = latest.id and (backups.failed_at is null or backups.failed_at < latest.at)`,
};

/** One update for each backup: its newest failed test. */
export function markFailed(session: SqlSession, placed: Placed): Promise<unknown> {
  const newest = new Map<string, { at: string; receiptId: string }>();
  for (const { entry } of placed) {
    const { backup_id: id } = entry.statement.predicate;
    const at = happenedAt(entry);
    if (at >= (newest.get(id)?.at ?? "")) newest.set(id, { at, receiptId: entry.id });
  }
  const ids = [...newest.keys()].sort();
  return session.run(MARK_FAILED, [
    plainArray(ids),
    plainArray(ids.map((id) => newest.get(id)?.at ?? null)),
    plainArray(ids.map((id) => newest.get(id)?.receiptId ?? null)),
  ]);
}

const MARK_SUSPICIOUS: PreparedQuery = {
  name: "receipts_mark_backups_suspicious",
  text: `update backups set suspicious_at = greatest(suspicious_at, latest.at)
    from unnest($1::text[], $2::timestamptz[]) as latest (id, at) where backups.id = latest.id`,
};

/** Whether the tests passed or failed. */
export function markSuspicious(session: SqlSession, placed: Placed): Promise<unknown> {
  return session.run(
    MARK_SUSPICIOUS,
    latest(placed, ({ statement }) => statement.predicate.backup_id),
  );
}

/**
 * Ids and the latest time of each as two array literals, ordered by id so that two writers never
 * deadlock.
 */
function latest(placed: Placed, idOf: (entry: ReceiptEntry) => string): [string, string] {
  const times = new Map<string, string>();
  for (const { entry } of placed) {
    const at = happenedAt(entry);
    const known = times.get(idOf(entry));
    if (known === undefined || at > known) times.set(idOf(entry), at);
  }
  const ids = [...times.keys()].sort();
  return [plainArray(ids), plainArray(ids.map((id) => times.get(id) ?? null))];
}
