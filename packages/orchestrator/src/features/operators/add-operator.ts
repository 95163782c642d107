import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { forgetFormerPasskeys } from "../passkeys/owners.ts";
import { assertEmailAddress } from "../users/email-address.ts";
import { insertOperator, type Operator } from "./store.ts";

/** Creates a user of the service itself. Throws `invalid_request` and `already_exists`. */
export async function addOperator(
  tx: DatabaseTransaction,
  { email, name }: { email: string; name: string | null },
): Promise<Operator> {
  assertEmailAddress(email);
  await forgetFormerPasskeys(tx, email);
  const operator = await insertOperator(tx, { email, name });
  if (operator === null)
    throw new ApiError("already_exists", `There is already a user with the address ${email}.`);
  return operator;
}
