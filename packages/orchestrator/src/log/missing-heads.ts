import { equalBytes } from "@attestore/proof";
import type { Pool } from "pg";
import type { Head, HeadMemory } from "./checkpoint-signer.ts";
import { packHashes } from "../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../platform/database/sql-session.ts";

const PAGE = 1000;

/** The log's organisation: the last part of the log's origin. */
export function orgOfOrigin(origin: string): string {
  return origin.slice(origin.lastIndexOf("/") + 1);
}

export interface MissingHeads {
  /** Organisations whose logs lack a signed head. */
  setBack: string[];
  /** Organisations that the database does not know at all. */
  unknown: string[];
}

/** Finds which of these heads the database's logs never had. */
export async function findMissingHeads(pool: Pool, heads: readonly Head[]): Promise<Head[]> {
  const missing: Head[] = [];
  for (let from = 0; from < heads.length; from += PAGE) {
    const page = heads.slice(from, from + PAGE);
    const { rows } = await pool.query<{ n: number; root_hash: Buffer }>(
      `select n::int, root_hash from unnest($1::text[], $2::bigint[]) with ordinality as head (org_id, tree_size, n)
       join log_heads using (org_id, tree_size)`,
      [page.map(({ origin }) => orgOfOrigin(origin)), page.map(({ size }) => size)],
    );
    const roots = new Map(rows.map(({ n, root_hash }) => [n, root_hash]));
    page.forEach((head, index) => {
      const root = roots.get(index + 1);
      if (root === undefined || !equalBytes(root, head.rootHash)) missing.push(head);
    });
  }
  return missing;
}

/**
 * Marks in the database which logs lack a signed head, so that every replica and every command
 * treats them as read-only. Clears the mark of logs that have their missing head again.
 */
export async function stopSetBackLogs(pool: Pool, signed: readonly Head[]): Promise<MissingHeads> {
  await pool.query(
    `update logs set missing_head_size = null, missing_head_root = null
     where missing_head_size is not null and exists (select from log_heads as head
       where head.org_id = logs.org_id and tree_size = missing_head_size and head.root_hash = missing_head_root)`,
  );
  const missing = await findMissingHeads(pool, signed);
  for (let from = 0; from < missing.length; from += PAGE) {
    const page = missing.slice(from, from + PAGE);
    await pool.query(
      `update logs set missing_head_size = head.size, missing_head_root = substring($3::bytea from n::int * 32 - 31 for 32)
       from unnest($1::text[], $2::bigint[]) with ordinality as head (org_id, size, n)
       where logs.org_id = head.org_id and (missing_head_size is null or missing_head_size < head.size)`,
      [
        page.map(({ origin }) => orgOfOrigin(origin)),
        page.map(({ size }) => size),
        packHashes(page.map(({ rootHash }) => rootHash)),
      ],
    );
  }
  const { rows } = await pool.query<{ org_id: string }>(
    "select org_id from logs where missing_head_size is not null order by org_id",
  );
  const setBack = rows.map(({ org_id }) => org_id);
  const known = new Set(setBack);
  const unknown = missing.map(({ origin }) => orgOfOrigin(origin)).filter((org) => !known.has(org));
  return { setBack, unknown };
}

/** Roots of these organisations' logs at these sizes. */
export const ROOTS_OF_SIZES: PreparedQuery = {
  name: "log_roots_of_sizes",
  text: `select org_id, root_hash from unnest($1::text[], $2::bigint[]) as head (org_id, tree_size)
    join log_heads using (org_id, tree_size)`,
};

/** The database lookups of CheckpointSigner. */
export function committedHeads(pool: Pool): Pick<HeadMemory, "committedRoot" | "emittedSize"> {
  return {
    committedRoot: async (origin, size) => {
      const { rows } = await pool.query<{ root_hash: Buffer }>({
        name: "log_root_of_size",
        text: "select root_hash from log_heads where org_id = $1 and tree_size = $2",
        values: [orgOfOrigin(origin), size],
      });
      return rows[0]?.root_hash ?? null;
    },
    emittedSize: async (origin) => {
      const { rows } = await pool.query<{ tree_size: number }>({
        name: "log_emitted_size",
        text: "select tree_size from log_emissions where org_id = $1 order by hour desc limit 1",
        values: [orgOfOrigin(origin)],
      });
      return rows[0]?.tree_size ?? null;
    },
  };
}

const STOP: PreparedQuery = {
  name: "log_stop",
  text: `update logs set missing_head_size = $2, missing_head_root = $3
    where org_id = $1 and (missing_head_size is null or missing_head_size < $2)`,
};

/**
 * Records a head with the log's signature that somebody holds and the database lacks. Nothing is
 * appended to that log any more.
 */
export function stopLog(session: SqlSession, { origin, size, rootHash }: Head): Promise<unknown> {
  return session.run(STOP, [orgOfOrigin(origin), size, Buffer.from(rootHash)]);
}
