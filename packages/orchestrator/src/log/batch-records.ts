import type { AuditRow } from "../platform/http/audit-row.ts";
import type { IdempotencyRecord } from "./batch-lookups.ts";
import { packHashes, plainArray } from "./packed.ts";
import type { SqlSession, PreparedQuery } from "./sql-session.ts";

/** An answer that follows from an entry's place and the size of the tree that its proof is for. */
export interface RememberedPlace {
  key: IdempotencyRecord;
  logIndex: number;
  treeSize: number;
}

const REMEMBER: PreparedQuery = {
  name: "log_remember_places",
  text: `insert into idempotency_keys (scope_sha256, fingerprint, status, log_index, tree_size, created_at, expires_at)
    select substring($1::bytea from n::int * 32 - 31 for 32), substring($2::bytea from n::int * 32 - 31 for 32), 201,
      log_index, tree_size, created_at, expires_at
    from unnest($3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
      with ordinality as keys (log_index, tree_size, created_at, expires_at, n)
    on conflict (scope_sha256) do update set fingerprint = excluded.fingerprint, status = excluded.status, body = null,
      log_index = excluded.log_index, tree_size = excluded.tree_size, sealed = false, created_at = excluded.created_at,
      expires_at = excluded.expires_at`,
};

/** The keys are claimed and have no answer, so a row in the way is one that expired. */
export function rememberPlaces(session: SqlSession, places: readonly RememberedPlace[]): Promise<unknown> {
  return session.run(REMEMBER, [
    packHashes(places.map(({ key }) => key.scopeSha256)),
    packHashes(places.map(({ key }) => key.fingerprint)),
    plainArray(places.map(({ logIndex }) => logIndex)),
    plainArray(places.map(({ treeSize }) => treeSize)),
    plainArray(places.map(({ key }) => key.createdAt.toISOString())),
    plainArray(places.map(({ key }) => key.expiresAt.toISOString())),
  ]);
}

const AUDIT: PreparedQuery = {
  name: "log_audit_rows",
  text: `insert into api_logs (id, org_id, actor_kind, actor_id, impersonator_id, method, route, path, status, duration_ms,
      address, user_agent, request_id, idempotency_key, created_at)
    select id, org_id, actor_kind, actor_id, impersonator_id, method, route, path, status, duration_ms,
      address, user_agent, request_id, idempotency_key, created_at
    from json_to_recordset($1::json) as rows (id text, org_id text, actor_kind text, actor_id text, impersonator_id text,
      method text, route text, path text, status smallint, duration_ms integer, address text, user_agent text,
      request_id text, idempotency_key text, created_at timestamptz)`,
};

export function insertAuditRows(session: SqlSession, rows: readonly AuditRow[]): Promise<unknown> {
  return session.run(AUDIT, [JSON.stringify(rows)]);
}
