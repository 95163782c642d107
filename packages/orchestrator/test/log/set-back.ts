import type { Pool } from "pg";

/**
 * Does `work` on a log, and then its rows in the database are as before: what a restored older
 * database has. With `generations` those that began meanwhile are gone too.
 */
export async function setBack(
  pool: Pool,
  orgId: string,
  work: () => Promise<void>,
  { generations = false }: { generations?: boolean } = {},
): Promise<void> {
  const { rows } = await pool.query<Record<string, unknown>>("select * from logs where org_id = $1", [orgId]);
  const before = rows[0];
  if (before === undefined) throw new Error(`${orgId} has no log`);
  await work();
  const at = [orgId, before["tree_size"]];
  await pool.query("delete from log_leaves where org_id = $1 and log_index >= $2", at);
  await pool.query("delete from log_heads where org_id = $1 and tree_size > $2", at);
  await pool.query("delete from events where org_id = $1 and log_index >= $2", at);
  if (generations) {
    await pool.query("delete from log_generations where org_id = $1", [orgId]);
    await pool.query("delete from log_lost_heads where org_id = $1", [orgId]);
  }
  await pool.query(
    `update logs set tree_size = $2, root_hash = $3, right_edge = $4, origin = $5, missing_head_size = null,
      missing_head_root = null, missing_head_origin = null where org_id = $1`,
    [...at, before["root_hash"], before["right_edge"], before["origin"]],
  );
}
