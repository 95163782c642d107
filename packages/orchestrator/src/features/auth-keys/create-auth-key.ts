import { newId } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { newAuthKey } from "../secrets.ts";
import { insertAuthKey, type AuthKey } from "./store.ts";

export const DEFAULT_EXPIRY_S = 7 * 24 * 3600;
export const MAX_EXPIRY_S = 90 * 24 * 3600;
const MAX_USES = 1_000_000;

export interface NewAuthKey {
  orgId: string;
  name: string | null;
  expiresIn_s: number;
  maxUses: number | null;
  createdBy: string;
}

/**
 * Creates an auth key. Only the caller gets `plaintext`; it is stored nowhere. Throws
 * `invalid_request`.
 */
export async function createAuthKey(
  tx: DatabaseTransaction,
  key: NewAuthKey,
): Promise<{ record: AuthKey; plaintext: string }> {
  const { expiresIn_s, maxUses } = key;
  if (!Number.isSafeInteger(expiresIn_s) || expiresIn_s < 1 || expiresIn_s > MAX_EXPIRY_S)
    throw invalidRequest("An auth key must be valid for between one second and 90 days.", [
      { path: "/expires_in_s", message: `must be 1 to ${MAX_EXPIRY_S}` },
    ]);
  if (maxUses !== null && (!Number.isSafeInteger(maxUses) || maxUses < 1 || maxUses > MAX_USES))
    throw invalidRequest(`An auth key must allow between 1 and ${MAX_USES} uses.`, [
      { path: "/max_uses", message: `must be 1 to ${MAX_USES}` },
    ]);
  const { publicId, secret, plaintext } = newAuthKey();
  const now = Date.now();
  const record = await insertAuthKey(tx, {
    id: newId("authKey", now),
    org_id: key.orgId,
    public_id: publicId,
    secret_sha256: credentialHash(secret),
    name: key.name,
    created_by: key.createdBy,
    created_at: new Date(now),
    expires_at: new Date(now + expiresIn_s * 1000),
    max_uses: maxUses,
  });
  return { record, plaintext };
}
