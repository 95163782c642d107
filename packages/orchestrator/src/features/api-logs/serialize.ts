import type { ApiLogRecord } from "@attestore/contract";
import type { ListedApiLog } from "./queries.ts";

/** One call as the contract's section 10 shows it. */
export function apiLogRecord(row: ListedApiLog): ApiLogRecord {
  const { impersonator_id, idempotency_key } = row;
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    org_id: row.org_id ?? "",
    actor: { kind: row.actor_kind, id: row.actor_id },
    ...(impersonator_id === null ? {} : { impersonator: { kind: "operator", id: impersonator_id } }),
    method: row.method,
    route: row.route,
    path: row.path,
    status: row.status,
    duration_ms: row.duration_ms,
    address: row.address,
    user_agent: row.user_agent,
    request_id: row.request_id,
    ...(idempotency_key === null ? {} : { idempotency_key }),
  };
}
