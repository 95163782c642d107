import { type CompactRange, EMPTY_ROOT, type Hash, plural } from "@attestore/proof";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { requireClocksAgree } from "../clock-off.ts";
import { LogCorruption } from "../log-corruption.ts";
import { logOrigin } from "../checkpoints/log-keys.ts";
import { plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import { readRightEdge } from "../tree/right-edge.ts";

/** State of an organisation's log, from its row. */
export interface LockedLog {
  orgId: string;
  origin: string;
  range: CompactRange;
  /** The tree's right edge; computing the root from it costs one hash per level. */
  rootHash: Hash;
  /** When the newest entry was recorded; null if that is not known. */
  newestAt: Date | null;
}

interface LogRow {
  org_id: string;
  origin: string;
  tree_size: number;
  root_hash: Buffer;
  right_edge: Buffer;
  missing_head_size: number | null;
  is_held: boolean | null;
  newest_at: Date | null;
  database_now: Date;
}

// Rows are locked in the order of their ids, so two transactions that need several logs never
// deadlock.
const LOCK: PreparedQuery = {
  name: "log_lock",
  text: `select org_id, origin, tree_size, root_hash, right_edge, missing_head_size, newest_at,
      held_until > clock_timestamp() as is_held, clock_timestamp() as database_now from logs
    where org_id = any($1::text[]) order by org_id for no key update`,
};

/**
 * Locks these logs until the transaction ends. No replica can append to them meanwhile, and every
 * later statement sees everything appended before. A log that cannot continue has its LogCorruption
 * in place of its state (`log_missing`, `log_row_damaged`, `head_regressed`, `log_held`), so that
 * it does not block the other logs of a batch. Throws ClockOff.
 */
export async function lockLogs(
  session: SqlSession,
  orgIds: ReadonlySet<string>,
): Promise<Map<string, LockedLog | LogCorruption>> {
  const asked_ms = Date.now();
  const rows = await session.run<LogRow>(LOCK, [plainArray([...orgIds])]);
  for (const { database_now } of rows) requireClocksAgree(database_now, asked_ms);
  const logs = new Map(rows.map((row) => [row.org_id, readRow(row)]));
  for (const orgId of orgIds)
    if (!logs.has(orgId)) logs.set(orgId, new LogCorruption("log_missing", `${orgId} has no log`));
  return logs;
}

/** A log's state whether or not it lacks a signed head. */
export interface LogToRecover {
  log: LockedLog;
  /** The head that stopped it. */
  missing: { origin: string; size: number; rootHash: Buffer } | null;
}

const LOCK_SET_BACK: PreparedQuery = {
  name: "log_lock_set_back",
  text: `select org_id, origin, tree_size, root_hash, right_edge, missing_head_size, missing_head_root, missing_head_origin,
      newest_at, held_until > clock_timestamp() as is_held, clock_timestamp() as database_now from logs
    where org_id = $1 for no key update`,
};

/**
 * Locks a log that may have been set back, as `lockLogs` does. Throws LogCorruption `log_missing`,
 * `log_held`, `log_row_damaged`; ClockOff.
 */
export async function lockSetBackLog(session: SqlSession, orgId: string): Promise<LogToRecover> {
  type Row = LogRow & { missing_head_root: Buffer | null; missing_head_origin: string | null };
  const asked_ms = Date.now();
  const [row] = await session.run<Row & Record<string, unknown>>(LOCK_SET_BACK, [orgId]);
  if (row === undefined) throw new LogCorruption("log_missing", `${orgId} has no log`);
  requireClocksAgree(row.database_now, asked_ms);
  const log = readRow({ ...row, missing_head_size: null });
  if (log instanceof LogCorruption) throw log;
  const { missing_head_size: size, missing_head_root: rootHash, missing_head_origin } = row;
  if (size === null || rootHash === null) return { log, missing: null };
  return { log, missing: { origin: missing_head_origin ?? log.origin, size, rootHash } };
}

function readRow(row: LogRow): LockedLog | LogCorruption {
  if (row.missing_head_size !== null)
    return new LogCorruption(
      "head_regressed",
      `${row.origin} has ${plural(row.tree_size, "leaf", "leaves")}, but lacks the signed head of ${row.missing_head_size}: the database was set back`,
    );
  if (row.is_held === true)
    return new LogCorruption("log_held", `${row.origin} was restored, and agents may know newer heads`);
  const range = readRightEdge(row.tree_size, row.root_hash, row.right_edge);
  // A wrong edge would lead to a wrong root under the next head, which cannot be taken back.
  if (range === null)
    return new LogCorruption("log_row_damaged", `the right edge of ${row.origin} does not produce its root`);
  const { org_id: orgId, origin, root_hash: rootHash, newest_at: newestAt } = row;
  return { orgId, origin, range, rootHash, newestAt };
}

/**
 * Creates the empty log of a new organisation, in the transaction that creates the organisation.
 */
export async function createLog(tx: DatabaseTransaction, host: string, orgId: string): Promise<void> {
  const root = Buffer.from(EMPTY_ROOT);
  await tx
    .insertInto("logs")
    .values({ org_id: orgId, origin: logOrigin(host, orgId), root_hash: root })
    .execute();
  await tx
    .insertInto("log_heads")
    .values({ org_id: orgId, tree_size: 0, root_hash: root, recorded_at: new Date() })
    .execute();
}
