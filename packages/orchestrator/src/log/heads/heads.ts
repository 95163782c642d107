import type { CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { LogCorruption } from "../log-corruption.ts";
import { originOfSize } from "./origin-of-size.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

/** A head of the log, as log_heads records it. */
export interface RecordedHead {
  orgId: string;
  origin: string;
  size: number;
  rootHash: Buffer;
  recordedAt: Date;
  /** Of its tree, as long as the log has not grown since. */
  rightEdge: Buffer | null;
}

interface StoredHead {
  origin: string;
  tree_size: number;
  root_hash: Buffer;
  recorded_at: Date;
}

/**
 * SQL for a `NewestHead`, to use in other statements. `parameter` is the statement's parameter with
 * the organisation's id.
 */
export const newestHeadOf = (parameter: string): string =>
  `select origin, head.tree_size, head.root_hash, head.recorded_at, emission.emitted_at, emission.checkpoint,
      emission.tree_size as emitted_size, emission.root_hash as emitted_root
    from logs
    cross join lateral (select * from log_heads where org_id = logs.org_id order by tree_size desc limit 1) as head
    left join lateral (select * from log_emissions where org_id = logs.org_id order by hour desc limit 1) as emission on true
    where logs.org_id = ${parameter}`;

const NEWEST: PreparedQuery = { name: "log_newest_head", text: newestHeadOf("$1") };

export interface NewestHead extends StoredHead {
  /** From the newest hourly checkpoint, which may be of an earlier head. */
  emitted_at: Date | null;
  checkpoint: string | null;
  emitted_size: number | null;
  emitted_root: Buffer | null;
}

export interface SignedCheckpoint {
  origin: string;
  size: number;
  rootHash: Buffer;
  /**
   * When the log reached this size; or, if it has not grown since, when the last hourly head was
   * signed.
   */
  at: Date;
  checkpoint: string;
}

/**
 * The most recent head of an organisation's log, with the time's cosignature if the hourly
 * checkpoint came after it.
 */
export async function readNewestCheckpoint(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
): Promise<SignedCheckpoint> {
  const [row] = await session.run<NewestHead>(NEWEST, [orgId]);
  if (row === undefined) throw new LogCorruption("log_missing", `${orgId} has no log`);
  return signNewest(row, signer);
}

/**
 * With the log's signature, and the time cosignature if the hourly checkpoint came after it. If the
 * database was set back, this is its newest hourly head, which was signed before.
 */
export async function signNewest(row: NewestHead, signer: CheckpointSigner): Promise<SignedCheckpoint> {
  const head = { origin: row.origin, size: row.tree_size, rootHash: row.root_hash };
  const emitted = publishedCheckpoint(row);
  if (emitted?.size === head.size) return emitted;
  try {
    return { ...head, at: row.recorded_at, checkpoint: await signer.sign(head) };
  } catch (error) {
    if (emitted !== null && error instanceof LogCorruption && error.code === "head_regressed") return emitted;
    throw error;
  }
}

function publishedCheckpoint({
  emitted_at,
  emitted_size,
  emitted_root,
  checkpoint,
}: NewestHead): SignedCheckpoint | null {
  if (emitted_at === null || emitted_size === null || emitted_root === null || checkpoint === null)
    return null;
  // The row's origin is that of the present generation; this head may be of an earlier one.
  const origin = checkpoint.slice(0, checkpoint.indexOf("\n"));
  return { origin, size: emitted_size, rootHash: emitted_root, at: emitted_at, checkpoint };
}

const OF_SIZE: PreparedQuery = {
  name: "log_head_of_size",
  text: `select ${originOfSize("log_heads.tree_size")} as origin, log_heads.tree_size, log_heads.root_hash, recorded_at,
      case when logs.tree_size = log_heads.tree_size then right_edge end as right_edge
    from log_heads join logs using (org_id)
    where org_id = $1 and log_heads.tree_size = $2`,
};

/**
 * The log's head at this size, or null if it never had one, because the log can grow by several
 * leaves at once.
 */
export async function readHeadOfSize(
  session: SqlSession,
  orgId: string,
  size: number,
): Promise<RecordedHead | null> {
  const [row] = await session.run<StoredHead & { right_edge: Buffer | null }>(OF_SIZE, [orgId, size]);
  if (row === undefined) return null;
  const { origin, root_hash: rootHash, recorded_at: recordedAt, right_edge: rightEdge } = row;
  return { orgId, origin, size, rootHash, recordedAt, rightEdge };
}
