import type { Pool } from "pg";
import type { HeadMemory } from "../checkpoints/checkpoint-signer.ts";
import { standbyWait } from "../../platform/database/standby.ts";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import { orgOfOrigin } from "./missing-heads.ts";
import { originOfSize } from "./origin-of-size.ts";

/** Roots of these organisations' logs at these sizes. */
export const ROOTS_OF_SIZES: PreparedQuery = {
  name: "log_roots_of_sizes",
  text: `select org_id, root_hash from unnest($1::text[], $2::bigint[]) as head (org_id, tree_size)
    join log_heads using (org_id, tree_size)`,
};

/** The database lookups of CheckpointSigner. */
export function committedHeads(pool: Pool): Omit<HeadMemory, "signed"> {
  return {
    standbyHasHeads: standbyWait(pool),
    committedRoot: async (origin, size) => {
      const { rows } = await pool.query<{ root_hash: Buffer }>({
        name: "log_root_of_size",
        text: `select log_heads.root_hash from log_heads join logs using (org_id)
          where org_id = $1 and log_heads.tree_size = $2 and ${originOfSize("log_heads.tree_size")} = $3`,
        values: [orgOfOrigin(origin), size, origin],
      });
      return rows[0]?.root_hash ?? null;
    },
    signedSize: async (origin) => {
      const { rows } = await pool.query<{ size: number | null }>({
        name: "log_signed_size",
        text: `select coalesce((select tree_size from log_generations where org_id = $1 and ended = $2),
          (select tree_size from log_emissions where org_id = $1 order by hour desc limit 1)) as size`,
        values: [orgOfOrigin(origin), origin],
      });
      return rows[0]?.size ?? null;
    },
  };
}
