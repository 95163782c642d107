import { equalBytes, parseLogName } from "@attestore/proof";
import type { ClientBase, Pool } from "pg";
import type { Head, HeadMemory } from "../checkpoints/checkpoint-signer.ts";
import { originOfSize } from "./origin-of-size.ts";
import { packHashes } from "../../platform/database/packed.ts";
import { standbyWait } from "../../platform/database/standby.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

const PAGE = 1000;

/** Of the pool or of one connection. */
type Queries = Pick<Pool, "query"> | Pick<ClientBase, "query">;

/** The log's organisation: the last part of the name of the log's first generation. */
export function orgOfOrigin(origin: string): string {
  const { first } = parseLogName(origin);
  return first.slice(first.lastIndexOf("/") + 1);
}

export interface MissingHeads {
  /** Organisations whose logs lack a signed head. */
  setBack: string[];
  /** Organisations that the database does not know at all. */
  unknown: string[];
  /**
   * Heads that generations which have ended had signed and lost, and that no event names yet. They
   * stop nothing.
   */
  lost: Head[];
}

/**
 * Finds which of these heads the database's logs do not have, or have under the name of another
 * generation. With `anyName` only the organisation in the name counts.
 */
export async function findMissingHeads(
  pool: Queries,
  heads: readonly Head[],
  { anyName = false }: { anyName?: boolean } = {},
): Promise<Head[]> {
  const missing: Head[] = [];
  for (let from = 0; from < heads.length; from += PAGE) {
    const page = heads.slice(from, from + PAGE);
    const { rows } = await pool.query<{ n: number; root_hash: Buffer; origin: string }>(
      `select n::int, log_heads.root_hash, ${originOfSize("log_heads.tree_size")} as origin
       from unnest($1::text[], $2::bigint[]) with ordinality as head (org_id, tree_size, n)
       join log_heads using (org_id, tree_size) join logs using (org_id)`,
      [page.map(({ origin }) => orgOfOrigin(origin)), page.map(({ size }) => size)],
    );
    const found = new Map(rows.map(({ n, ...head }) => [n, head]));
    page.forEach((head, index) => {
      const has = found.get(index + 1);
      const isNamed = anyName || has?.origin === head.origin;
      if (has === undefined || !isNamed || !equalBytes(has.root_hash, head.rootHash)) missing.push(head);
    });
  }
  return missing;
}

/** Which of these are of a generation that has ended, and how many entries were left of it. */
export async function leftOfEnded(pool: Queries, heads: readonly Head[]): Promise<Map<Head, number>> {
  if (heads.length === 0) return new Map();
  const { rows } = await pool.query<{ ended: string; tree_size: number }>(
    "select ended, tree_size from log_generations where org_id = any($1::text[])",
    [[...new Set(heads.map(({ origin }) => orgOfOrigin(origin)))]],
  );
  const left = new Map(rows.map(({ ended, tree_size }) => [ended, tree_size]));
  return new Map(
    heads.flatMap((head) => {
      const size = left.get(head.origin);
      return size === undefined ? [] : [[head, size]];
    }),
  );
}

/** Logs whose present generation came after that of `head` are not concerned by it. */
const IS_NOT_EARLIER = `(length(logs.origin), logs.origin collate "C") <= (length(head.origin), head.origin collate "C")`;

/**
 * Marks in the database which logs lack a signed head, so that every replica and every command
 * treats them as read-only. Clears the mark of logs that have their missing head again.
 */
export async function stopSetBackLogs(pool: Queries, signed: readonly Head[]): Promise<MissingHeads> {
  await pool.query(
    `update logs set missing_head_size = null, missing_head_root = null, missing_head_origin = null
     where missing_head_size is not null and exists (select from log_heads as head
       where head.org_id = logs.org_id and tree_size = missing_head_size and head.root_hash = missing_head_root
         and coalesce(missing_head_origin, logs.origin) = ${originOfSize("missing_head_size")})`,
  );
  const absent = await findMissingHeads(pool, signed);
  const ended = await leftOfEnded(pool, absent);
  const missing = absent.filter((head) => !ended.has(head));
  for (let from = 0; from < missing.length; from += PAGE) {
    const page = missing.slice(from, from + PAGE);
    await pool.query(
      `update logs set missing_head_size = head.size, missing_head_root = substring($3::bytea from n::int * 32 - 31 for 32),
         missing_head_origin = head.origin
       from unnest($1::text[], $2::bigint[], $4::text[]) with ordinality as head (org_id, size, origin, n)
       where logs.org_id = head.org_id and (missing_head_size is null or missing_head_size < head.size) and ${IS_NOT_EARLIER}`,
      [
        page.map(({ origin }) => orgOfOrigin(origin)),
        page.map(({ size }) => size),
        packHashes(page.map(({ rootHash }) => rootHash)),
        page.map(({ origin }) => origin),
      ],
    );
  }
  const { rows } = await pool.query<{ org_id: string }>(
    "select org_id from logs where missing_head_size is not null order by org_id",
  );
  const setBack = rows.map(({ org_id }) => org_id);
  const known = new Set(setBack);
  const unknown = missing.map(({ origin }) => orgOfOrigin(origin)).filter((org) => !known.has(org));
  const lost = [...ended].filter(([{ size }, left]) => size > left).map(([head]) => head);
  return { setBack, unknown, lost: await notNamed(pool, lost) };
}

async function notNamed(pool: Queries, lost: readonly Head[]): Promise<Head[]> {
  if (lost.length === 0) return [];
  const { rows } = await pool.query<{ n: number }>(
    `select n::int from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as head (org_id, origin, tree_size, n)
     join log_lost_heads using (org_id, origin, tree_size)`,
    [
      lost.map(({ origin }) => orgOfOrigin(origin)),
      lost.map(({ origin }) => origin),
      lost.map(({ size }) => size),
    ],
  );
  const named = new Set(rows.map(({ n }) => n));
  return lost.filter((_, index) => !named.has(index + 1));
}

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

const STOP: PreparedQuery = {
  name: "log_stop",
  text: `update logs set missing_head_size = $2, missing_head_root = $3, missing_head_origin = $4
    from (select $4::text as origin) as head
    where org_id = $1 and (missing_head_size is null or missing_head_size < $2) and ${IS_NOT_EARLIER}`,
};

/**
 * Records a head with the log's signature that somebody has and the database lacks. From then on
 * nothing is appended to that log. A head of a generation that has ended stops nothing.
 */
export function stopLog(session: SqlSession, { origin, size, rootHash }: Head): Promise<unknown> {
  return session.run(STOP, [orgOfOrigin(origin), size, Buffer.from(rootHash), origin]);
}
