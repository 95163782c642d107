import { sql } from "kysely";
import { byteaArray, packHashes, plainArray } from "../database/packed.ts";
import type { DatabaseTransaction } from "../database/schema.ts";
import type { PreparedQuery, SqlSession } from "../database/sql-session.ts";
import { ApiError } from "../errors/api-error.ts";
import type { WireAnswer } from "./route/answer.ts";
import type { SubmissionRecord } from "./route/route.ts";
import type { Sealer } from "./sealer.ts";
import { hash } from "node:crypto";

const ULID = /^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/;
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/**
 * The value of `Idempotency-Key`, or null without one. Throws 400 if it is neither a ULID nor a
 * UUID. How long a key is kept is in the contract's limits (`IDEMPOTENCY_WINDOW_S`,
 * `RECEIPT_IDEMPOTENCY_WINDOW_S`).
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && (ULID.test(header) || UUID.test(header))) return header.toLowerCase();
  throw new ApiError("invalid_idempotency_key", "Idempotency-Key must be a ULID or a UUID.");
}

/** The scope in which a key is unique: one credential, one method, one path. */
export function idempotencyScope(scope: {
  credential: Buffer;
  method: string;
  path: string;
  key: string;
}): Buffer {
  const text = [scope.credential.toString("hex"), scope.method, scope.path, scope.key].join("\n");
  return hash("sha256", text, "buffer");
}

export function bodyFingerprint(rawBody: Buffer): Buffer {
  return hash("sha256", rawBody, "buffer");
}

/** The same key was used before with another body. */
export function keyReused(): ApiError {
  return new ApiError(
    "idempotency_key_reused",
    "This Idempotency-Key was already used with a different body. Use a new key for a different request.",
  );
}

export function keyInProgress(): ApiError {
  return new ApiError(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still running. Repeat this one in a second.",
    {},
    { "retry-after": "1" },
  );
}

/** Refusals after which a corrected request may use the same key (contract, section 3). */
const FORGOTTEN = new Set([400, 401, 413, 415, 429]);

/** Whether the same key gets this refusal again. */
export function isRemembered(error: ApiError): boolean {
  // An answer about the key itself is not an answer to its first request.
  if (error.code === "idempotency_in_progress" || error.code === "idempotency_key_reused") return false;
  // A full quota has room again once something is gone, or an operator has raised it.
  if (error.code === "quota_exceeded") return false;
  return error.status < 500 && !FORGOTTEN.has(error.status);
}

type Remembered = NonNullable<SubmissionRecord["idempotency"]>;

export const ANSWER_PURPOSE = "idempotency";

/**
 * Claims the key until the transaction ends and returns the answer that an earlier request with it
 * got, or null for the first. Of two requests at once, on any replica, one gets the advisory lock
 * and the other 409. The lookup is a separate statement after the lock, so its snapshot has
 * everything that the lock's last holder committed.
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
  // A replica logged this very submission meanwhile. The log determines its answer; the next try
  // gets it there.
  if (row.body === null) throw keyInProgress();
  const body = row.sealed ? await sealer.open(row.body, ANSWER_PURPOSE) : row.body;
  return { status: row.status, body, replayed: true };
}

/** Stores the answer for a replay, and overwrites a row that expired. */
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

const CLAIM_KEYS: PreparedQuery = {
  name: "log_claim_keys",
  text: `select n::int - 1 as position, pg_try_advisory_xact_lock(scope) as claimed
    from unnest($1::bigint[]) with ordinality as keys (scope, n)`,
};

const REMEMBERED: PreparedQuery = {
  name: "log_remembered_answers",
  text: `select scope_sha256, fingerprint, status, body, log_index, tree_size from idempotency_keys
    where scope_sha256 = any($1::bytea[]) and expires_at > $2::timestamptz`,
};

interface RememberedRow {
  scope_sha256: Buffer;
  fingerprint: Buffer;
  status: number;
  body: Buffer | null;
  log_index: number | null;
  tree_size: number | null;
}

/** The answer to a call under the same key. */
export type EarlierAnswer =
  /** Its entry is in the log; the answer follows from its place. */
  | { is: "placed"; logIndex: number; treeSize: number }
  | { is: "answered"; answer: WireAnswer }
  | { is: "refused"; error: ApiError };

/**
 * Claims these idempotency keys until the transaction ends, with the advisory locks that all of the
 * service's transactions use for them, and then looks up their answers. These are two statements,
 * because a statement's snapshot is older than its locks.
 */
export async function claimKeys(
  session: SqlSession,
  keys: readonly Remembered[],
  now: Date,
): Promise<(key: Remembered) => EarlierAnswer | null> {
  if (keys.length === 0) return () => null;
  const claiming = session.run<{ position: number; claimed: boolean }>(CLAIM_KEYS, [
    plainArray(keys.map(({ scopeSha256 }) => String(scopeSha256.readBigInt64BE(0)))),
  ]);
  const reading = session.run<RememberedRow>(REMEMBERED, [
    byteaArray(keys.map(({ scopeSha256 }) => scopeSha256)),
    now,
  ]);
  const [claims, rows] = await Promise.all([claiming, reading]);
  const busy = new Set(claims.filter(({ claimed }) => !claimed).map(({ position }) => keys[position]));
  const remembered = new Map(rows.map((row) => [row.scope_sha256.toString("base64"), row]));
  return (key) => {
    if (busy.has(key)) return { is: "refused", error: keyInProgress() };
    const row = remembered.get(key.scopeSha256.toString("base64"));
    return row === undefined ? null : earlierAnswer(key, row);
  };
}

function earlierAnswer(key: Remembered, row: RememberedRow): EarlierAnswer {
  if (!row.fingerprint.equals(key.fingerprint)) return { is: "refused", error: keyReused() };
  if (row.log_index !== null && row.tree_size !== null)
    return { is: "placed", logIndex: row.log_index, treeSize: row.tree_size };
  if (row.body === null) throw new Error("a remembered answer is neither bytes nor an entry of the log");
  return { is: "answered", answer: { status: row.status, body: row.body, replayed: true } };
}

/** An answer that follows from an entry's place and the size of the tree that its proof is for. */
export interface RememberedPlace {
  key: Remembered;
  logIndex: number;
  treeSize: number;
}

const REMEMBER: PreparedQuery = {
  name: "log_remember_places",
  text: `insert into idempotency_keys (scope_sha256, fingerprint, status, log_index, tree_size, created_at, expires_at)
    select substring($1::bytea from n::int * 32 - 31 for 32), substring($2::bytea from n::int * 32 - 31 for 32), 201,
      log_index, tree_size, created_at, expires_at
    from unnest($3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
      with ordinality as keys (log_index, tree_size, created_at, expires_at, n)
    on conflict (scope_sha256) do update set fingerprint = excluded.fingerprint, status = excluded.status, body = null,
      log_index = excluded.log_index, tree_size = excluded.tree_size, sealed = false, created_at = excluded.created_at,
      expires_at = excluded.expires_at`,
};

/** The keys are claimed and have no answer, so a row in the way has expired. */
export function rememberPlaces(session: SqlSession, places: readonly RememberedPlace[]): Promise<unknown> {
  return session.run(REMEMBER, [
    packHashes(places.map(({ key }) => key.scopeSha256)),
    packHashes(places.map(({ key }) => key.fingerprint)),
    plainArray(places.map(({ logIndex }) => logIndex)),
    plainArray(places.map(({ treeSize }) => treeSize)),
    plainArray(places.map(({ key }) => key.createdAt.toISOString())),
    plainArray(places.map(({ key }) => key.expiresAt.toISOString())),
  ]);
}
