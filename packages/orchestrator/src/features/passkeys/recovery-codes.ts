import { normalizeRecoveryCode, RECOVERY_CODES } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { newRecoveryCode } from "../secrets.ts";

/** New ones that replace all earlier ones. They are stored nowhere. */
export async function makeRecoveryCodes(tx: DatabaseTransaction, email: string): Promise<string[]> {
  const lower = email.toLowerCase();
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await tx.deleteFrom("recovery_codes").where("email", "=", lower).execute();
  await tx
    .insertInto("recovery_codes")
    .values(codes.map((code) => ({ email: lower, code_sha256: recoveryHash(lower, code) })))
    .execute();
  return codes;
}

export async function countRecoveryCodes(db: Database, email: string): Promise<number> {
  const { count } = await db
    .selectFrom("recovery_codes")
    .select((codes) => codes.fn.countAll<number>().as("count"))
    .where("email", "=", email.toLowerCase())
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Uses one up; of several tries at once, one succeeds. Throws `recovery_code_invalid`. */
export async function useRecoveryCode(tx: DatabaseTransaction, email: string, typed: string): Promise<void> {
  const lower = email.toLowerCase();
  const used = await tx
    .updateTable("recovery_codes")
    .set({ used_at: sql<Date>`now()` })
    .where("email", "=", lower)
    .where("code_sha256", "=", recoveryHash(lower, typed))
    .where("used_at", "is", null)
    .executeTakeFirst();
  if (used.numUpdatedRows > 0n) return;
  throw new ApiError(
    "recovery_code_invalid",
    "This recovery code is not valid. Each works once, and only the newest set works. Type another one; after five wrong ones, ask for a new code by mail first.",
  );
}

/**
 * 78 random bits need no slow hash. Text that can't be a code is hashed too; no code has that hash.
 */
export function recoveryHash(email: string, typed: string): Buffer {
  const code = normalizeRecoveryCode(typed) ?? `no code: ${typed}`;
  return credentialHash(["recovery", email.toLowerCase(), code].join("\n"));
}
