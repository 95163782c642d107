import { CODE_LIFETIME_S, normalizeCode } from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { clientNetwork } from "../../platform/http/limits/client-network.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { newCode } from "../secrets.ts";
import { type CodeKey, countWrongRecovery, countWrongTry, putCode, takeCode } from "./store.ts";

/** The person who asks for a code or tries one. */
export interface Asking {
  email: string;
  /** The client's own id of this attempt; absent if it has none. */
  attempt?: string;
  /** Client address without the port. */
  address: string;
}

/**
 * A code is for one purpose and one attempt; for a signup, also for the organisation that it will
 * create.
 */
export type CodeFor = Asking & ({ purpose: "login" } | { purpose: "signup"; orgName: string });

interface Tried extends Asking {
  purpose: CodeFor["purpose"];
  code: string;
}

/**
 * Makes a code that replaces an earlier one of the attempt and lives 15 minutes. It is stored
 * nowhere.
 */
export async function issueCode(
  tx: DatabaseTransaction,
  about: CodeFor,
): Promise<{ code: string; expiresAt: Date }> {
  const code = newCode();
  const expiresAt = new Date(Date.now() + CODE_LIFETIME_S * 1000);
  await putCode(tx, {
    purpose: about.purpose,
    email: normalEmail(about.email),
    attempt_sha256: attemptHash(about),
    by_network: about.attempt === undefined,
    code_sha256: hashOf({ purpose: about.purpose, email: about.email, code }),
    org_name: about.purpose === "signup" ? about.orgName : null,
    expires_at: expiresAt,
  });
  return { code, expiresAt };
}

/**
 * Counts a wrong code. Runs before the transaction that would use the code, and commits by itself,
 * so the count survives the refusal, a restart, and any number of tries at once. At most five of
 * them are ever compared.
 */
export async function countWrongCode(db: Database, tried: Tried): Promise<void> {
  await countWrongTry(db, keyOf(tried));
}

/**
 * Counts a wrong recovery code that came with the right mailed code, for somebody who has a
 * passkey. It counts like a wrong code: five burn the mailed code. Only somebody who has that code
 * can do this. Runs before the transaction, like `countWrongCode`.
 */
export async function countWrongRecoveryCode(db: Database, tried: Tried, recovery: Buffer): Promise<void> {
  await countWrongRecovery(db, { ...keyOf(tried), recovery });
}

/**
 * Uses a code up. Throws the same 401 `code_invalid` for a wrong, expired, used, burned or unknown
 * one.
 */
export async function useCode(tx: DatabaseTransaction, tried: Tried): Promise<{ orgName: string | null }> {
  const taken = await takeCode(tx, keyOf(tried));
  if (taken === null) throw codeInvalid();
  return { orgName: taken.org_name };
}

export function codeInvalid(): ApiError {
  return new ApiError(
    "code_invalid",
    "This code is not valid, or no longer. A code works once, for 15 minutes, and only the newest one works. Ask for a new one.",
  );
}

/** Addresses that differ only in case are the same. */
export function normalEmail(email: string): string {
  return email.toLowerCase();
}

function keyOf(tried: Tried): CodeKey & { tried: Buffer } {
  const { purpose, email } = tried;
  return {
    purpose,
    email: normalEmail(email),
    attempt: attemptHash(tried),
    byNetwork: tried.attempt === undefined,
    tried: hashOf(tried),
  };
}

/**
 * A stranger does not know the id that somebody's browser made up and, as a rule, can't call from
 * their network.
 */
function attemptHash({ attempt, address }: Asking): Buffer {
  return credentialHash(attempt === undefined ? `network:${clientNetwork(address)}` : `attempt:${attempt}`);
}

/** Text that can't be a code is hashed too; no code has that hash. */
function hashOf({ purpose, email, code }: Pick<Tried, "purpose" | "email" | "code">): Buffer {
  return credentialHash([purpose, normalEmail(email), normalizeCode(code) ?? `no code: ${code}`].join("\n"));
}
