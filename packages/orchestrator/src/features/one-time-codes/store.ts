import { MAX_WRONG_ATTEMPTS } from "@attestore/contract";
import { sql, type Insertable } from "kysely";
import type { Database, DatabaseTransaction, OneTimeCodesTable } from "../../platform/database/schema.ts";

export interface CodeKey {
  purpose: OneTimeCodesTable["purpose"];
  email: string;
  attempt: Buffer;
  /** The attempt is the network that the call came from. */
  byNetwork: boolean;
}

/** An attempt's newest code takes the place of the one before. */
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

/** Counts a wrong try against the attempt's code, if there is one that could be right. One statement, so none is missed. */
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
 * Uses a code up. Null where it is wrong, expired, used or burned: of any number at once one gets it. A program that makes no attempts of
 * its own may ask in one network and type the code in another: there the code alone has to do.
 */
export async function takeCode(
  tx: DatabaseTransaction,
  { purpose, email, attempt, byNetwork, tried }: CodeKey & { tried: Buffer },
): Promise<{ org_name: string | null } | null> {
  const row = await tx
    .updateTable("one_time_codes")
    .set({ used_at: sql<Date>`now()` })
    .where("purpose", "=", purpose)
    .where("email", "=", email)
    .where((code) =>
      byNetwork
        ? code.or([code("attempt_sha256", "=", attempt), code("by_network", "=", true)])
        : code("attempt_sha256", "=", attempt),
    )
    .where("code_sha256", "=", tried)
    .where("wrong_tries", "<", MAX_WRONG_ATTEMPTS)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning("org_name")
    .executeTakeFirst();
  return row ?? null;
}
