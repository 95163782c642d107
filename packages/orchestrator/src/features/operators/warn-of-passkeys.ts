import type { Database } from "../../platform/database/schema.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { GIVE_IT_A_NAME, knowsNoPasskeys } from "../passkeys/relying-party.ts";
import { hasOperator } from "./store.ts";

/** Warns in the service's log if operators, who need a passkey, can't have one. */
export async function warnOfPasskeys(db: Database, publicUrl: string, log: Logger): Promise<void> {
  if (knowsNoPasskeys(publicUrl) && (await hasOperator(db)))
    log.warn(
      { public_url: publicUrl },
      `operators need a passkey, and browsers do not support passkeys for an IP address: no operator can use the dashboard. ${GIVE_IT_A_NAME}`,
    );
}
