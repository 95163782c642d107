import { plural } from "@attestore/proof";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { queueMail } from "../../platform/mail/outbox.ts";

/** Mails to a person about how they can sign in. */
export type PasskeyNotice =
  | { is: "added" }
  | { is: "removed"; left: number }
  | { is: "codes_made" }
  | { is: "code_used"; left: number }
  | { is: "counter_back" }
  | { is: "reset" };

export interface NoticeDeps {
  sealer: Sealer;
  publicUrl: string;
}

const OF_USE_S = 7 * 24 * 3600;

/**
 * The mail contains nothing that somebody can choose, not even names of passkeys. Otherwise
 * somebody with a session of the person could write to them.
 */
export async function mailPasskeyNotice(
  tx: DatabaseTransaction,
  { sealer, publicUrl }: NoticeDeps,
  email: string,
  notice: PasskeyNotice,
): Promise<void> {
  const { subject, what, otherwise } = wordsOf(notice);
  const text = `${what}

Time: ${new Date().toISOString()}
Service: ${publicUrl}

${otherwise}
`;
  await queueMail(tx, sealer, { to: email, subject, text }, new Date(Date.now() + OF_USE_S * 1000));
}

const IF_NOT_YOU =
  "If this was you, do nothing. If not, sign in, remove the passkeys that are not yours under Passkeys, make new recovery codes, and tell the operator of the service.";

function wordsOf(notice: PasskeyNotice): { subject: string; what: string; otherwise: string } {
  switch (notice.is) {
    case "added":
      return {
        subject: "A passkey was added to your Attestore account",
        what: "A passkey was added to your account. From now on a mailed code alone no longer signs you in.",
        otherwise: IF_NOT_YOU,
      };
    case "removed":
      return {
        subject: "A passkey was removed from your Attestore account",
        what:
          notice.left > 0
            ? `A passkey was removed from your account; ${notice.left} ${notice.left === 1 ? "is" : "are"} left. Your other sessions were signed out.`
            : "The last passkey was removed from your account, and your recovery codes with it. A mailed code signs you in again. Your other sessions were signed out.",
        otherwise: IF_NOT_YOU,
      };
    case "codes_made":
      return {
        subject: "New recovery codes for your Attestore account",
        what: "New recovery codes were made for your account. The previous ones no longer work.",
        otherwise: IF_NOT_YOU,
      };
    case "code_used":
      return {
        subject: "A recovery code of your Attestore account was used",
        what: `Somebody signed in to your account with a mailed code and a recovery code. ${plural(notice.left, "recovery code is", "recovery codes are")} left.`,
        otherwise: IF_NOT_YOU,
      };
    case "counter_back":
      return {
        subject: "A passkey of your Attestore account was refused",
        what: "A sign-in with one of your passkeys was refused because its counter went back. This happens when a passkey has been copied.",
        otherwise:
          "Sign in another way, remove this passkey under Passkeys, and add a new one. Tell the operator of the service.",
      };
    case "reset":
      return {
        subject: "The passkeys of your Attestore account were removed",
        what: "Whoever runs the service removed all passkeys and recovery codes of your account and signed you out. A mailed code signs you in again.",
        otherwise: "If you did not ask for this, contact whoever runs the service.",
      };
  }
}
