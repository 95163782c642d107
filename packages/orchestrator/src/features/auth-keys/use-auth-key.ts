import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { authKeyInvalid } from "../../platform/http/auth-key-credentials.ts";
import { takeUse } from "./store.ts";

/** Counts one use of a key whose secret was right. Throws `auth_key_invalid` where it ended meanwhile or is used up. */
export async function useAuthKey(tx: DatabaseTransaction, id: string): Promise<void> {
  if (!(await takeUse(tx, id))) throw authKeyInvalid();
}
