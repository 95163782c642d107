import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { type AuthKey, keyExists, setKeyRevoked } from "./store.ts";

/** Revokes an auth key. Agents that attached with it stay. Throws `not_found` and `conflict`. */
export async function revokeAuthKey(tx: DatabaseTransaction, id: string): Promise<AuthKey> {
  const revoked = await setKeyRevoked(tx, id, new Date());
  if (revoked !== null) return revoked;
  if (await keyExists(tx, id)) throw new ApiError("conflict", "This auth key is already revoked.");
  throw notFound("auth key");
}
