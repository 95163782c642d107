import { equalBytes, formatLogName, leafHash, plural } from "@attestore/proof";
import type { Pool, PoolClient } from "pg";
import { logOrigin, type LogIdentity } from "../checkpoints/log-keys.ts";
import { originOfSize } from "../heads/origin-of-size.ts";
import { readRightEdge } from "../tree/right-edge.ts";
import { whyNotSigned } from "./check-published.ts";

export interface HeadCheck {
  size: number;
  /** From the newest hourly head. */
  emittedAt: Date | null;
  problems: string[];
}

interface Row {
  origin: string;
  /** From 1. */
  generation: number;
  tree_size: number;
  root_hash: Buffer;
  right_edge: Buffer;
  head_size: number | null;
  head_root: Buffer | null;
}

interface Leaf {
  log_index: number;
  leaf: Buffer;
  leaf_hash: Buffer;
}

interface PublishedCheckpoint {
  origin: string;
  emitted_at: Date;
  tree_size: number;
  root_hash: Buffer;
  checkpoint: string;
  recorded_root: Buffer | null;
}

/**
 * Checks the end of a log, by reading a few rows: the row's right edge gives its root, its last
 * leaf exists, its newest head has that root, and the newest hourly head is a signed head of the
 * log. Only `fsck` looks further back.
 */
export async function checkHead(pool: Pool, identity: LogIdentity, orgId: string): Promise<HeadCheck> {
  const { row, leaves } = await readEnd(pool, orgId);
  if (row === undefined) return { size: 0, emittedAt: null, problems: ["the organisation has no log"] };
  const first = logOrigin(identity.host, orgId);
  const problems = rowProblems(row, leaves, formatLogName({ first, generation: row.generation }));
  const published = await newestPublished(pool, orgId);
  if (published !== null) {
    if (published.recorded_root === null || !equalBytes(published.recorded_root, published.root_hash))
      problems.push("the newest hourly head is one that the log does not have");
    const why = await whyNotSigned(identity, published);
    if (why !== null) problems.push(`the newest hourly head: ${why}`);
  }
  return { size: row.tree_size, emittedAt: published?.emitted_at ?? null, problems };
}

/** The log's row and its last leaf, with one that comes after it, if any, in one snapshot. */
async function readEnd(pool: Pool, orgId: string): Promise<{ row: Row | undefined; leaves: Leaf[] }> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const end = await readRowAndLeaves(client, orgId);
    await client.query("commit");
    client.release();
    return end;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function readRowAndLeaves(
  client: PoolClient,
  orgId: string,
): Promise<{ row: Row | undefined; leaves: Leaf[] }> {
  const { rows } = await client.query<Row>(
    `select origin, (select count(*)::int + 1 from log_generations where org_id = $1) as generation, logs.tree_size, logs.root_hash, right_edge,
       head.tree_size as head_size, head.root_hash as head_root
     from logs left join lateral (
       select tree_size, root_hash from log_heads where org_id = $1 order by tree_size desc limit 1) as head on true
     where logs.org_id = $1`,
    [orgId],
  );
  const [row] = rows;
  if (row === undefined) return { row, leaves: [] };
  // By itself: an engine that spreads leaves over machines joins no other table with them.
  const leaves = await client.query<Leaf>(
    `select log_index, leaf, leaf_hash from log_leaves where org_id = $1 and log_index >= $2
     order by log_index limit 2`,
    [orgId, row.tree_size - 1],
  );
  return { row, leaves: leaves.rows };
}

function rowProblems(row: Row, leaves: readonly Leaf[], origin: string): string[] {
  const { tree_size: size, root_hash: root } = row;
  const last = leaves.find(({ log_index }) => log_index === size - 1);
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  expect(row.origin === origin, `the log's origin is ${row.origin}`);
  expect(edgeGivesRoot(row), "the right edge does not produce the root");
  if (size > 0) {
    const isWhole = last !== undefined && equalBytes(leafHash(last.leaf), last.leaf_hash);
    expect(isWhole, `leaf ${size - 1}, the last one, is missing or damaged`);
  }
  expect(!leaves.some(({ log_index }) => log_index >= size), `there are leaves beyond the log's ${size}`);
  const isRecorded = row.head_size === size && row.head_root !== null && equalBytes(row.head_root, root);
  expect(isRecorded, `the newest head does not match the ${plural(size, "leaf", "leaves")}`);
  return problems;
}

function edgeGivesRoot({ tree_size, root_hash, right_edge }: Row): boolean {
  return readRightEdge(tree_size, root_hash, right_edge) !== null;
}

async function newestPublished(pool: Pool, orgId: string): Promise<PublishedCheckpoint | null> {
  const { rows } = await pool.query<PublishedCheckpoint>(
    `select emitted_at, log_emissions.tree_size, log_emissions.root_hash, checkpoint, log_heads.root_hash as recorded_root,
       ${originOfSize("log_emissions.tree_size")} as origin
     from log_emissions left join log_heads using (org_id, tree_size) left join logs using (org_id)
     where org_id = $1 order by hour desc limit 1`,
    [orgId],
  );
  return rows[0] ?? null;
}
