import type { ConfigRequestRecord } from "@attestore/contract";
import type { StoredConfigRequest } from "./store.ts";

/** A request as the API returns it. */
export function configRequestRecord(stored: StoredConfigRequest, now: Date): ConfigRequestRecord {
  const { id, org_id, agent_id, asked_by, request, status, answer } = stored;
  return {
    id,
    created_at: stored.created_at.toISOString(),
    org_id,
    agent_id,
    asked_by,
    status: status === "queued" && stored.expires_at <= now ? "expired" : status,
    request,
    expires_at: stored.expires_at.toISOString(),
    answered_at: stored.answered_at?.toISOString() ?? null,
    result: answer !== null && "result" in answer ? answer.result : null,
    refusal: answer !== null && "refusal" in answer ? answer.refusal : null,
  };
}
