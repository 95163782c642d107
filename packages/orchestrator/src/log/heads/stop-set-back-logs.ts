import type { Head } from "../checkpoints/checkpoint-signer.ts";
import { packHashes } from "../../platform/database/packed.ts";
import type { PreparedQuery, SqlSession } from "../../platform/database/sql-session.ts";
import { findMissingHeads, HEADS_AT_ONCE, leftOfEnded, orgOfOrigin, type Queries } from "./missing-heads.ts";
import { originOfSize } from "./origin-of-size.ts";

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
  for (let from = 0; from < missing.length; from += HEADS_AT_ONCE) {
    const page = missing.slice(from, from + HEADS_AT_ONCE);
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
