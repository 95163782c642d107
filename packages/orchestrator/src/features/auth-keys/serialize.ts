import type { AuthKeyRecord } from "@attestore/contract";
import type { AuthKey } from "./store.ts";

/** An auth key as the API returns it. */
export function serializeAuthKey(key: AuthKey): AuthKeyRecord {
  return {
    id: key.id,
    created_at: key.created_at.toISOString(),
    org_id: key.org_id,
    name: key.name,
    created_by: key.created_by,
    expires_at: key.expires_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    max_uses: key.max_uses,
    uses: key.uses,
    wrong_attempts: key.wrong_attempts,
    revoked_at: key.revoked_at?.toISOString() ?? null,
  };
}
