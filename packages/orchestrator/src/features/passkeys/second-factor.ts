import type { DatabaseTransaction, SignInMethod } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { mailPasskeyNotice, type NoticeDeps } from "./notices.ts";
import { forgetFormerPasskeys, hasPasskey } from "./owners.ts";
import { countRecoveryCodes, useRecoveryCode } from "./recovery-codes.ts";

/**
 * The second factor after the right mailed code: if the person has a passkey, the code alone is not
 * enough. Call this in the transaction that used the code up, so that a refusal gives it back.
 * Throws `recovery_code_required` and `recovery_code_invalid`.
 */
export async function requireSecondFactor(
  tx: DatabaseTransaction,
  deps: NoticeDeps,
  { email, recovery_code }: { email: string; recovery_code?: string },
): Promise<Extract<SignInMethod, "email_code" | "recovery_code">> {
  await forgetFormerPasskeys(tx, email);
  if (!(await hasPasskey(tx, email))) return "email_code";
  if (recovery_code === undefined)
    throw new ApiError(
      "recovery_code_required",
      "You have a passkey: sign in with it. If you cannot, send one of your recovery codes together with this code.",
    );
  await useRecoveryCode(tx, email, recovery_code);
  await mailPasskeyNotice(tx, deps, email, {
    is: "code_used",
    left: await countRecoveryCodes(tx, email),
  });
  return "recovery_code";
}
