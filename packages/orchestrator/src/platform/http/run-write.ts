import { errorCode } from "@attestore/host/errno";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database/schema.ts";
import { type WireAnswer, toWire } from "./route/answer.ts";
import { writeApiLogRows } from "./api-log/api-log-row.ts";
import { ApiError, errorBody } from "../errors/api-error.ts";
import { lockActiveAgent } from "./credentials/lock-active-agent.ts";
import { BACK_TO_REQUESTS, endScope, scopeWithSavepoint } from "../database/org-scope.ts";
import { AWAIT_STANDBY } from "../database/standby.ts";
import type { Principal } from "./route/principal.ts";
import type { Call, SubmissionRecord, WriteRoute } from "./route/route.ts";
import type { Sealer } from "./sealer.ts";
import { requireSession } from "./credentials/session-credentials.ts";
import { assertAllowed } from "./route/policy.ts";
import { claimKey, isRemembered, rememberAnswer } from "./idempotency.ts";

const ATTEMPTS = 4;

/**
 * Runs a handler that changes something. One transaction contains its effect, the remembered answer
 * and the API log row, so a crash leaves all of them or none. A refusal by the handler undoes its
 * writes (savepoint) and keeps the other two.
 */
export async function runWrite(
  deps: { db: Database; sealer: Sealer },
  route: WriteRoute,
  call: Call,
  record: SubmissionRecord,
  logImpersonation: (tx: DatabaseTransaction, status: number) => Promise<void>,
): Promise<WireAnswer> {
  let prepared: unknown;
  let refusal: ApiError | null = null;
  if (route.prepare !== undefined) {
    try {
      prepared = await route.prepare(call);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
  }
  // Somebody who sends a key wants to find the call again.
  if (refusal === null && record.idempotency === null && route.routine !== undefined) {
    const answer = await route.routine(call);
    if (answer !== null) return toWire(answer);
  }
  const run = async (tx: DatabaseTransaction): Promise<Answered> =>
    refusal === null ? attempt(tx, route, call, prepared) : refused(refusal, call);
  const isSecret = route.secret === true;
  return retried(() => commit(deps, record, run, { isSecret, logImpersonation }));
}

/** Stores the refusal of a handler that commits by itself; an answer stored before wins over it. */
export async function rememberRefusal(
  deps: { db: Database; sealer: Sealer },
  call: Call,
  record: SubmissionRecord,
  error: ApiError,
): Promise<WireAnswer> {
  return retried(() => commit(deps, record, () => Promise.resolve(refused(error, call))));
}

interface Answered {
  answer: WireAnswer;
  /** Set if the answer is an error. */
  error: ApiError | null;
}

function refused(error: ApiError, call: Call): Answered {
  return { answer: toWire({ status: error.status, body: errorBody(error, call.requestId) }), error };
}

async function attempt(
  tx: DatabaseTransaction,
  route: WriteRoute,
  call: Call,
  prepared: unknown,
): Promise<Answered> {
  const principal = await readmit(tx, route, call.principal);
  await route.count?.(call, tx);
  if (call.orgId === null || route.beyondOrg === true) await sql`savepoint handler`.execute(tx);
  else await scopeWithSavepoint(tx, call.orgId);
  try {
    const answer = await route.handle({ ...call, principal }, tx, prepared);
    // From here on the statements are the service's own: remembered answers, the API log row.
    await endScope(tx);
    return { answer: toWire(answer), error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await sql`rollback to savepoint handler; ${BACK_TO_REQUESTS}`.execute(tx);
    return refused(error, call);
  }
}

/**
 * Looks the caller up again in the transaction: they were admitted before the body was read,
 * perhaps half a minute ago. Throws what they would be refused with now.
 */
async function readmit(tx: DatabaseTransaction, route: WriteRoute, principal: Principal): Promise<Principal> {
  if (principal.kind === "agent") await lockActiveAgent(tx, principal.id);
  if (principal.kind !== "user" && principal.kind !== "auditor_link") return principal;
  const now = await requireSession(tx, principal.credential);
  assertAllowed(now, route);
  return now;
}

async function commit(
  deps: { db: Database; sealer: Sealer },
  record: SubmissionRecord,
  run: (tx: DatabaseTransaction) => Promise<Answered>,
  {
    isSecret = false,
    logImpersonation,
  }: {
    /** The answer is stored sealed. */
    isSecret?: boolean;
    logImpersonation?: (tx: DatabaseTransaction, status: number) => Promise<void>;
  } = {},
): Promise<WireAnswer> {
  return deps.db.transaction().execute(async (tx) => {
    if (record.idempotency !== null) {
      const earlier = await claimKey(tx, record.idempotency, deps.sealer);
      if (earlier !== null) {
        // The commit of the first request may have been ended before the standby had it.
        await AWAIT_STANDBY.execute(tx);
        return earlier;
      }
    }
    const { answer, error } = await run(tx);
    // Nothing to commit: the whole transaction is undone, and with it the claim on the key.
    if (error !== null && !isRemembered(error)) throw error;
    if (record.idempotency !== null)
      await rememberAnswer(tx, record.idempotency, answer, isSecret && error === null ? deps.sealer : null);
    await writeApiLogRows(tx, [record.apiLogRow(answer.status)]);
    // Last, because it keeps the log locked until the commit.
    await logImpersonation?.(tx, answer.status);
    return answer;
  });
}

/**
 * Repeats after a deadlock or a serialisation failure: PostgreSQL undid everything and asks for it.
 */
async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const code = errorCode(error);
      if (attempt === ATTEMPTS || (code !== "40001" && code !== "40P01")) throw error;
    }
  }
}
