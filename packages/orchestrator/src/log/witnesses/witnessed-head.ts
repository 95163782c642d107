import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

const SIZE: PreparedQuery = {
  name: "witnessed_size",
  text: `select max(tree_size) as tree_size from agent_witnesses join agents on agents.id = agent_witnesses.agent_id
    where agents.org_id = $1 and agents.status = 'active' and cosignature is not null and tree_size > $2`,
};

/**
 * The size of the newest head that a witness of this log cosigned and that holds the leaf; null
 * where there is none.
 */
export async function newestWitnessedSize(
  session: SqlSession,
  orgId: string,
  logIndex: number,
): Promise<number | null> {
  const [row] = await session.run<{ tree_size: number | null }>(SIZE, [orgId, logIndex]);
  return row?.tree_size ?? null;
}

/** Leaves room for others' in a note's 64 signatures. */
const MAX_COSIGNATURES = 32;

const LINES: PreparedQuery = {
  name: "witnessed_lines",
  text: `select cosignature from agent_witnesses join agents on agents.id = agent_witnesses.agent_id
    where agents.org_id = $1 and agents.status = 'active' and cosignature is not null and tree_size = $2
    order by received_at desc, agent_id limit ${MAX_COSIGNATURES}`,
};

/**
 * Witnesses' cosignatures of the head of that size, as lines to append to its note, newest first.
 */
export async function cosignaturesOf(
  session: SqlSession,
  orgId: string,
  treeSize: number,
): Promise<string[]> {
  const rows = await session.run<{ cosignature: string }>(LINES, [orgId, treeSize]);
  return rows.map(({ cosignature }) => (cosignature.endsWith("\n") ? cosignature : `${cosignature}\n`));
}
