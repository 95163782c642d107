import { CODE_LIFETIME_S, normalizeCode } from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/bearer.ts";
import { ApiError } from "../../platform/http/errors.ts";
import { newCode } from "../secrets.ts";
import { countWrongTry, putCode, takeCode } from "./store.ts";

/** A code is for one purpose and one address; for a signup, also for the organisation that it will make. */
export type CodeFor =
  | { purpose: "login"; email: string }
  | { purpose: "signup"; email: string; orgName: string };

interface Tried {
  purpose: CodeFor["purpose"];
  email: string;
  code: string;
}

/** Makes a code that takes the place of an earlier one, and lives 15 minutes. It is nowhere else. */
export async function issueCode(
  tx: DatabaseTransaction,
  about: CodeFor,
): Promise<{ code: string; expiresAt: Date }> {
  const code = newCode();
  const expiresAt = new Date(Date.now() + CODE_LIFETIME_S * 1000);
  await putCode(tx, {
    purpose: about.purpose,
    email: normalEmail(about.email),
    code_sha256: hashOf({ ...about, code }),
    org_name: about.purpose === "signup" ? about.orgName : null,
    expires_at: expiresAt,
  });
  return { code, expiresAt };
}

/**
 * Counts a code that is wrong. Before the transaction that would use it, and committed by itself: the count survives the refusal, a
 * restart, and any number of tries at once, of which no more than five are ever weighed.
 */
export async function weighCode(db: Database, tried: Tried): Promise<void> {
  await countWrongTry(db, { ...tried, email: normalEmail(tried.email), tried: hashOf(tried) });
}

/** Uses a code up. Throws one 401 `code_invalid` for a wrong, expired, used, burned or unknown one. */
export async function useCode(tx: DatabaseTransaction, tried: Tried): Promise<{ orgName: string | null }> {
  const taken = await takeCode(tx, { ...tried, email: normalEmail(tried.email), tried: hashOf(tried) });
  if (taken === null) throw codeInvalid();
  return { orgName: taken.org_name };
}

export function codeInvalid(): ApiError {
  return new ApiError(
    "code_invalid",
    "This code is not valid (any more). Codes work once, for 15 minutes, and only the newest one does. Ask for a new one.",
  );
}

/** Letters' case makes no other address. */
export function normalEmail(email: string): string {
  return email.toLowerCase();
}

/** What cannot be a code has a hash too, which no code has. */
function hashOf({ purpose, email, code }: Tried): Buffer {
  return credentialHash([purpose, normalEmail(email), normalizeCode(code) ?? `no code: ${code}`].join("\n"));
}
