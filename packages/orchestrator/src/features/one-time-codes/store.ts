import { MAX_WRONG_ATTEMPTS } from "@attestore/contract";
import { type ExpressionBuilder, sql, type Insertable } from "kysely";
import type {
  Database,
  DatabaseTransaction,
  OneTimeCodesTable,
  Schema,
} from "../../platform/database/schema.ts";

export interface CodeKey {
  purpose: OneTimeCodesTable["purpose"];
  email: string;
  attempt: Buffer;
  /** The attempt is the network that the call came from. */
  byNetwork: boolean;
}

/** An attempt's newest code replaces the one before. */
export async function putCode(
  tx: DatabaseTransaction,
  code: Required<
    Pick<
      Insertable<OneTimeCodesTable>,
      "purpose" | "email" | "attempt_sha256" | "by_network" | "code_sha256" | "org_name" | "expires_at"
    >
  >,
): Promise<void> {
  const { purpose, email, attempt_sha256, ...rest } = code;
  const fresh = { ...rest, wrong_tries: 0, used_at: null, created_at: sql<Date>`now()` };
  await tx
    .insertInto("one_time_codes")
    .values({ purpose, email, attempt_sha256, ...fresh })
    .onConflict((conflict) => conflict.columns(["purpose", "email", "attempt_sha256"]).doUpdateSet(fresh))
    .execute();
}

/**
 * Counts a wrong try against the attempt's code, if that could still be used. One statement, so no
 * try is missed.
 */
export async function countWrongTry(
  db: Database,
  { purpose, email, attempt, tried }: CodeKey & { tried: Buffer },
): Promise<void> {
  await db
    .updateTable("one_time_codes")
    .set((code) => ({ wrong_tries: code("wrong_tries", "+", 1) }))
    .where("purpose", "=", purpose)
    .where("email", "=", email)
    .where("attempt_sha256", "=", attempt)
    .where("code_sha256", "<>", tried)
    .where("wrong_tries", "<", MAX_WRONG_ATTEMPTS)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .execute();
}

/**
 * The same for the right code with a wrong recovery code. Does nothing if the person has no
 * passkey.
 */
export async function countWrongRecovery(
  db: Database,
  key: CodeKey & { tried: Buffer; recovery: Buffer },
): Promise<void> {
  await db
    .updateTable("one_time_codes")
    .set((code) => ({ wrong_tries: code("wrong_tries", "+", 1) }))
    .where(rightCode(key))
    .where(
      sql<boolean>`exists (select from passkeys where email = ${key.email}) and not exists (
        select from recovery_codes where email = ${key.email} and code_sha256 = ${key.recovery} and used_at is null)`,
    )
    .execute();
}

/**
 * Uses a code up. Null if it is wrong, expired, used or burned; of several at once, one gets it. A
 * program without attempts of its own may ask in one network and enter the code in another: then
 * the code alone has to be enough.
 */
export async function takeCode(
  tx: DatabaseTransaction,
  key: CodeKey & { tried: Buffer },
): Promise<{ org_name: string | null } | null> {
  const row = await tx
    .updateTable("one_time_codes")
    .set({ used_at: sql<Date>`now()` })
    .where(rightCode(key))
    .returning("org_name")
    .executeTakeFirst();
  return row ?? null;
}

function rightCode({ purpose, email, attempt, byNetwork, tried }: CodeKey & { tried: Buffer }) {
  return (code: ExpressionBuilder<Schema, "one_time_codes">) =>
    code.and([
      code("purpose", "=", purpose),
      code("email", "=", email),
      byNetwork
        ? code.or([code("attempt_sha256", "=", attempt), code("by_network", "=", true)])
        : code("attempt_sha256", "=", attempt),
      code("code_sha256", "=", tried),
      code("wrong_tries", "<", MAX_WRONG_ATTEMPTS),
      code("used_at", "is", null),
      code("expires_at", ">", sql<Date>`now()`),
    ]);
}
