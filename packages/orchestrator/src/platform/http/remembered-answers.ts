import { sql } from "kysely";
import type { DatabaseTransaction } from "../database/schema.ts";
import type { WireAnswer } from "./answer.ts";
import { keyInProgress, keyReused } from "./idempotency-key.ts";
import type { SubmissionRecord } from "./route.ts";
import type { Sealer } from "./sealer.ts";

type Remembered = NonNullable<SubmissionRecord["idempotency"]>;

export const ANSWER_PURPOSE = "idempotency";

/**
 * Claims the key until the transaction ends and gives the answer that an earlier request with it got, or null if this is the
 * first. Of two requests at once, on whatever replica, one gets the advisory lock and the other 409. The
 * lookup is a statement of its own after the lock: its snapshot then holds what the lock's last holder committed.
 */
export async function claimKey(
  tx: DatabaseTransaction,
  key: Remembered,
  sealer: Sealer,
): Promise<WireAnswer | null> {
  const lock = key.scopeSha256.readBigInt64BE(0).toString();
  const claim = await sql<{ claimed: boolean }>`
    select pg_try_advisory_xact_lock(${lock}::bigint) as claimed`.execute(tx);
  if (claim.rows[0]?.claimed !== true) throw keyInProgress();
  return findAnswer(tx, key, sealer);
}

async function findAnswer(
  tx: DatabaseTransaction,
  key: Remembered,
  sealer: Sealer,
): Promise<WireAnswer | null> {
  const row = await tx
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "status", "body", "sealed"])
    .where("scope_sha256", "=", key.scopeSha256)
    .where("expires_at", ">", key.createdAt)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (!row.fingerprint.equals(key.fingerprint)) throw keyReused();
  // A replica logged this very submission meanwhile. Its answer follows from the log; the next try gets it there.
  if (row.body === null) throw keyInProgress();
  const body = row.sealed ? await sealer.open(row.body, ANSWER_PURPOSE) : row.body;
  return { status: row.status, body, replayed: true };
}

/** Keeps the answer for a replay; a row left of an expired one is overwritten. */
export async function rememberAnswer(
  tx: DatabaseTransaction,
  key: Remembered,
  answer: WireAnswer,
  sealer: Sealer | null,
): Promise<void> {
  const row = {
    fingerprint: key.fingerprint,
    status: answer.status,
    body: sealer === null ? answer.body : await sealer.seal(answer.body, ANSWER_PURPOSE),
    log_index: null,
    tree_size: null,
    sealed: sealer !== null,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
  };
  await tx
    .insertInto("idempotency_keys")
    .values({ scope_sha256: key.scopeSha256, ...row })
    .onConflict((conflict) => conflict.column("scope_sha256").doUpdateSet(row))
    .execute();
}
