import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, invalidRequest } from "../../platform/errors/api-error.ts";
import { forgetFormerPasskeys } from "../passkeys/owners.ts";
import { insertOperator, type Operator } from "./store.ts";

/**
 * One `@`, something on both sides, no white space. Only a mail shows whether the address exists.
 */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;
const MAX_EMAIL = 254;

/** Creates a user of the service itself. Throws `invalid_request` and `already_exists`. */
export async function addOperator(
  tx: DatabaseTransaction,
  { email, name }: { email: string; name: string | null },
): Promise<Operator> {
  if (email.length > MAX_EMAIL || !EMAIL.test(email))
    throw invalidRequest(`"${email.slice(0, MAX_EMAIL)}" is not an e-mail address.`, [
      { path: "/email", message: "is not an e-mail address" },
    ]);
  await forgetFormerPasskeys(tx, email);
  const operator = await insertOperator(tx, { email, name });
  if (operator === null)
    throw new ApiError("already_exists", `There is already a user with the address ${email}.`);
  return operator;
}
