import { firstIdAt, type IdKind, isId, type TimelineItem, type TimelineTopic } from "@attestore/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { idsWithin, paged } from "../../platform/http/route/pagination.ts";
import { backupRecord } from "../backups/serialize.ts";
import { LAST_CLEAN, LISTED_BACKUP_COLUMNS, LISTED_METADATA } from "../backups/store.ts";
import { commandRecord } from "../commands/serialize.ts";
import { COMMAND_COLUMNS, withResults } from "../commands/store.ts";
import { EVENT_COLUMNS } from "../events/queries.ts";
import { eventRecord } from "../events/serialize.ts";
import { receiptRecord } from "../receipts/serialize.ts";
import { RECEIPT_COLUMNS } from "../receipts/queries.ts";

type Entry = { id: string; item: TimelineItem };

const KINDS = ["event", "receipt", "backup", "command"] as const satisfies IdKind[];
/** Sorts after the time part of every id. */
const AFTER_ALL = "~";

/** The part after the prefix: ids of all kinds sort by it in the order in which they were made. */
function suffixOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** The part of each kind of record in a topic. */
interface Selection {
  /** Kinds of events. */
  events: readonly string[];
  receipts: { kind: "backup" | "restore_test" } | { result: "failed" } | null;
  backups: boolean;
  commands: boolean;
}

const TOPICS: Record<TimelineTopic, Selection> = {
  backups: {
    events: [
      "backup_failed",
      "backup_missed",
      "backup_expiring",
      "backup_removal_withdrawn",
      "backup_expired",
      "backup_kept",
      "backup_released",
    ],
    receipts: { kind: "backup" },
    backups: true,
    commands: false,
  },
  restore_tests: {
    events: ["restore_failed", "restore_test_missed", "change_accepted"],
    receipts: { kind: "restore_test" },
    backups: false,
    commands: false,
  },
  trouble: {
    events: [
      "backup_failed",
      "restore_failed",
      "attestation_failed",
      "backup_missed",
      "restore_test_missed",
      "retention_held",
    ],
    receipts: { result: "failed" },
    backups: false,
    commands: false,
  },
  commands: { events: [], receipts: null, backups: false, commands: true },
};

export interface OfSource {
  orgId: string;
  sourceId: string;
}

/** Which part of a list to read: ids are compared without their prefixes. */
interface Range {
  from: string;
  before: string;
  limit: number;
}

/**
 * A page of a source's records, newest first. Each kind of record is read from its own index, and
 * only as far back as the page can reach: rows of one source are far from each other, so each costs
 * a page of the database. Throws `invalid_request` for a cursor of another list.
 */
export async function readTimeline(
  db: Database,
  of: OfSource,
  query: { limit?: string; cursor?: string; topic?: TimelineTopic; from: Date | null; to: Date | null },
): Promise<{ items: TimelineItem[]; next_cursor: string | null }> {
  const limit = query.limit === undefined ? 50 : Number(query.limit);
  const before = beforeOf(query.cursor);
  const end = query.to === null ? AFTER_ALL : firstSuffixAt(query.to);
  const range: Range = {
    from: query.from === null ? "" : firstSuffixAt(query.from),
    before: end < before ? end : before,
    limit: limit + 1,
  };
  const selection = query.topic === undefined ? null : TOPICS[query.topic];
  let entries: Entry[] = [];
  const add = async (read: (rest: Range) => Promise<Entry[]>): Promise<void> => {
    entries = [...entries, ...(await read(restOf(entries, range)))].toSorted(newestFirst);
  };
  // Most of a source's records are receipts.
  if (selection?.receipts !== null)
    await add((rest) => readReceipts(db, of, rest, selection?.receipts ?? {}));
  const events = await readEvents(db, of, restOf(entries, range), selection?.events ?? null);
  // If events were left out, nothing older than the oldest one that was read can be shown yet.
  if (events.isCut) range.from = suffixOf(events.entries.at(-1)?.id ?? "");
  entries = entries.filter(({ id }) => suffixOf(id) >= range.from);
  await add(() => Promise.resolve(events.entries));
  if (selection?.backups !== false) await add((rest) => readBackups(db, of, rest));
  if (selection?.commands !== false) await add((rest) => readCommands(db, of, rest));
  return paged(entries, { limit, before }, ({ item }) => item, events.isCut);
}

function newestFirst(a: Entry, b: Entry): number {
  return suffixOf(a.id) < suffixOf(b.id) ? 1 : -1;
}

/** The part of the range where an entry would be among the newest of all that were read. */
function restOf(entries: readonly Entry[], range: Range): Range {
  const last = entries[range.limit - 1];
  return last === undefined ? range : { ...range, from: suffixOf(last.id) };
}

function firstSuffixAt(at: Date): string {
  return suffixOf(firstIdAt("event", at.getTime()));
}

function beforeOf(cursor: string | undefined): string {
  if (cursor === undefined) return AFTER_ALL;
  const id = /^[A-Za-z0-9_-]+$/.test(cursor) ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  if (!KINDS.some((kind) => isId(kind, id)))
    throw invalidRequest("The cursor does not belong to this list.", [
      { path: "/cursor", message: "is not a next_cursor of this list" },
    ]);
  return suffixOf(id);
}

async function readEvents(
  db: Database,
  { orgId, sourceId }: OfSource,
  { from, before, limit }: Range,
  kinds: readonly string[] | null,
): Promise<{ entries: Entry[]; isCut: boolean }> {
  if (kinds?.length === 0) return { entries: [], isCut: false };
  let sizes = db
    .selectFrom("events")
    .select(["id", sql<number>`octet_length(body)`.as("bytes")])
    .where("org_id", "=", orgId)
    .where("source_id", "=", sourceId)
    .where("id", ">=", `evt_${from}`)
    .where("id", "<", `evt_${before}`);
  if (kinds !== null) sizes = sizes.where("kind", "in", kinds);
  const { ids, isCut } = idsWithin(await sizes.orderBy("id", "desc").limit(limit).execute());
  if (ids.length === 0) return { entries: [], isCut };
  const rows = await db
    .selectFrom("events")
    .select(EVENT_COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .orderBy("id", "desc")
    .execute();
  const incidents = await readIncidents(db, ids);
  const entries = rows.map<Entry>((event) => ({
    id: event.id,
    item: {
      type: "event",
      at: event.created_at.toISOString(),
      event: eventRecord(event),
      incident: incidents.get(event.id) ?? null,
    },
  }));
  return { entries, isCut };
}

/** The incidents that these events tell about. */
async function readIncidents(
  db: Database,
  eventIds: readonly string[],
): Promise<Map<string, { ended_at: string | null }>> {
  const rows = await db
    .selectFrom("incidents")
    .select(["id", "ended_at"])
    .where("id", "in", eventIds)
    .execute();
  return new Map(rows.map(({ id, ended_at }) => [id, { ended_at: ended_at?.toISOString() ?? null }]));
}

async function readReceipts(
  db: Database,
  { orgId, sourceId }: OfSource,
  { from, before, limit }: Range,
  filter: { kind?: "backup" | "restore_test"; result?: "failed" },
): Promise<Entry[]> {
  let query = db
    .selectFrom("receipts")
    .select(RECEIPT_COLUMNS)
    .where("org_id", "=", orgId)
    .where("source_id", "=", sourceId)
    .where("id", ">=", `rcpt_${from}`)
    .where("id", "<", `rcpt_${before}`);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  if (filter.result !== undefined) query = query.where("result", "=", filter.result);
  const rows = await query.orderBy("id", "desc").limit(limit).execute();
  return rows.map((receipt) => ({
    id: receipt.id,
    item: { type: "receipt", at: receipt.created_at.toISOString(), receipt: receiptRecord(receipt) },
  }));
}

async function readBackups(
  db: Database,
  { sourceId }: OfSource,
  { from, before, limit }: Range,
): Promise<Entry[]> {
  const rows = await db
    .selectFrom("backups")
    .select(LISTED_BACKUP_COLUMNS)
    .select(["created_at", LISTED_METADATA.as("source_metadata"), LAST_CLEAN.as("last_clean")])
    .where("source_id", "=", sourceId)
    .where("id", ">=", `bkp_${from}`)
    .where("id", "<", `bkp_${before}`)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ created_at, ...backup }) => ({
    id: backup.id,
    item: { type: "backup", at: created_at.toISOString(), backup: backupRecord(backup) },
  }));
}

async function readCommands(
  db: Database,
  { orgId, sourceId }: OfSource,
  { from, before, limit }: Range,
): Promise<Entry[]> {
  const rows = await db
    .selectFrom("commands")
    .select(COMMAND_COLUMNS)
    .where("org_id", "=", orgId)
    .where("source_id", "=", sourceId)
    .where("id", ">=", `cmd_${from}`)
    .where("id", "<", `cmd_${before}`)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return (await withResults(db, orgId, rows)).map((command) => ({
    id: command.id,
    item: { type: "command", at: command.created_at.toISOString(), command: commandRecord(command) },
  }));
}
