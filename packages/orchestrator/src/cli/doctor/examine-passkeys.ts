import { hasOperator } from "../../features/operators/store.ts";
import { GIVE_IT_A_NAME, knowsNoPasskeys } from "../../features/passkeys/relying-party.ts";
import type { Database } from "../../platform/database/schema.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Whether people can have passkeys for the service's address, and whether operators, who need one,
 * can sign in.
 */
export async function examinePasskeys(publicUrl: string, db: Database): Promise<Finding> {
  if (!knowsNoPasskeys(publicUrl))
    return ok("passkeys", `Passkeys are bound to the host ${new URL(publicUrl).hostname}.`);
  const why = `The service's address is ${publicUrl}, and browsers do not support passkeys for an IP address.`;
  return (await hasOperator(db))
    ? failed(
        "passkeys",
        `${why} Operators need a passkey, so none of them can use the dashboard.`,
        GIVE_IT_A_NAME,
      )
    : warning(
        "passkeys",
        `${why} Nobody can add a passkey, and an operator could not sign in.`,
        GIVE_IT_A_NAME,
      );
}
