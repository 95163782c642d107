import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { authKeyBurned, authKeyInvalid } from "../../platform/http/credentials/auth-key-credentials.ts";
import { isBurned, takeUse } from "./store.ts";

/**
 * Counts one use of a key whose secret was right. Throws `auth_key_burned` or `auth_key_invalid` if
 * the key ended in the meantime.
 */
export async function useAuthKey(tx: DatabaseTransaction, id: string): Promise<void> {
  if (await takeUse(tx, id)) return;
  throw (await isBurned(tx, id)) ? authKeyBurned() : authKeyInvalid();
}
