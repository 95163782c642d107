import type { SubmissionRecord } from "../platform/http/route.ts";
import { byteaArray, plainArray } from "./packed.ts";
import type { SqlSession, PreparedQuery } from "./sql-session.ts";

export type IdempotencyRecord = NonNullable<SubmissionRecord["idempotency"]>;

const ACTIVE_AGENTS: PreparedQuery = {
  name: "log_active_agents",
  text: "select id, key_fingerprint from agents where id = any($1::text[]) and status = 'active'",
};

/**
 * Which of these agents are active, with the fingerprint of the key that each signs with. Asked under the log's lock, which a revocation
 * and a rotation take too: nothing comes in after them.
 */
export async function readActiveAgents(
  session: SqlSession,
  agentIds: ReadonlySet<string>,
): Promise<Map<string, string>> {
  type Row = { id: string; key_fingerprint: string };
  const rows = await session.run<Row>(ACTIVE_AGENTS, [plainArray([...agentIds])]);
  return new Map(rows.map(({ id, key_fingerprint }) => [id, key_fingerprint]));
}

const CLAIM_KEYS: PreparedQuery = {
  name: "log_claim_keys",
  text: `select n::int - 1 as position, pg_try_advisory_xact_lock(scope) as claimed
    from unnest($1::bigint[]) with ordinality as keys (scope, n)`,
};

const REMEMBERED: PreparedQuery = {
  name: "log_remembered_answers",
  text: `select scope_sha256, fingerprint, status, body, log_index, tree_size from idempotency_keys
    where scope_sha256 = any($1::bytea[]) and expires_at > $2::timestamptz`,
};

interface RememberedRow {
  scope_sha256: Buffer;
  fingerprint: Buffer;
  status: number;
  body: Buffer | null;
  log_index: number | null;
  tree_size: number | null;
}

export type EarlierAnswer =
  | { is: "entry"; logIndex: number; treeSize: number }
  | { is: "refusal"; status: number; body: Buffer }
  | { is: "other_body" }
  | { is: "in_progress" };

/**
 * Claims these idempotency keys until the transaction ends, with the advisory locks that all of the service's transactions use for
 * them, and then looks up what they were answered. A statement's snapshot is older than its locks, hence two.
 */
export async function claimKeys(
  session: SqlSession,
  keys: readonly IdempotencyRecord[],
  now: Date,
): Promise<(key: IdempotencyRecord) => EarlierAnswer | null> {
  if (keys.length === 0) return () => null;
  const claiming = session.run<{ position: number; claimed: boolean }>(CLAIM_KEYS, [
    plainArray(keys.map(({ scopeSha256 }) => String(scopeSha256.readBigInt64BE(0)))),
  ]);
  const reading = session.run<RememberedRow>(REMEMBERED, [
    byteaArray(keys.map(({ scopeSha256 }) => scopeSha256)),
    now,
  ]);
  const [claims, rows] = await Promise.all([claiming, reading]);
  const busy = new Set(claims.filter(({ claimed }) => !claimed).map(({ position }) => keys[position]));
  const remembered = new Map(rows.map((row) => [row.scope_sha256.toString("base64"), row]));
  return (key) => {
    if (busy.has(key)) return { is: "in_progress" };
    const row = remembered.get(key.scopeSha256.toString("base64"));
    return row === undefined ? null : earlierAnswer(key, row);
  };
}

function earlierAnswer(key: IdempotencyRecord, row: RememberedRow): EarlierAnswer {
  if (!row.fingerprint.equals(key.fingerprint)) return { is: "other_body" };
  if (row.log_index !== null && row.tree_size !== null)
    return { is: "entry", logIndex: row.log_index, treeSize: row.tree_size };
  if (row.body === null) throw new Error("a remembered answer is neither bytes nor an entry of the log");
  return { is: "refusal", status: row.status, body: row.body };
}
