import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database, DatabaseTransaction } from "../../database/schema.ts";
import type { Logger } from "../../logging/logger.ts";
import { recordedPath } from "./api-log-row.ts";
import { errorBody, unavailable } from "../../errors/api-error.ts";

/** One call that an operator made as somebody else, as the organisation's log records it. */
export interface ImpersonatedCall {
  orgId: string;
  operatorId: string;
  detail: {
    user_id: string;
    reason: string;
    method: string;
    path: string;
    status: number;
    request_id: string;
  };
}

export type AppendImpersonatedCall = (tx: DatabaseTransaction, call: ImpersonatedCall) => Promise<void>;

export interface Impersonation {
  /**
   * For calls that change something: writes the log entry in the transaction of the change. Does
   * nothing if nobody is impersonated.
   */
  logInTransaction(tx: DatabaseTransaction, request: FastifyRequest, status: number): Promise<void>;
}

export function impersonationLogger(append: AppendImpersonatedCall): Impersonation {
  return {
    async logInTransaction(tx, request, status) {
      const call = impersonatedCall(request, status);
      if (call !== null) await append(tx, call);
    },
  };
}

/**
 * Holds back every other answer to an impersonated call, also to a refused one, until the
 * organisation's log has the entry. If the log can't be written, the answer becomes 503.
 */
export function logImpersonatedCalls(
  app: FastifyInstance,
  { db, logger, impersonation }: { db: Database; logger: Logger; impersonation: Impersonation },
): void {
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): Buffer => {
    logger.error({ err: error, request_id: request.id }, "an impersonated call could not be logged");
    const refusal = unavailable("The call could not be recorded in the organisation's log. Try again.");
    reply.code(refusal.status).headers(refusal.headers).type("application/json; charset=utf-8");
    reply.removeHeader("content-length");
    return Buffer.from(JSON.stringify(errorBody(refusal, request.id)));
  };
  app.addHook("onSend", async (request, reply, payload: unknown) => {
    const status = reply.statusCode;
    if (isLogged(request) || impersonatedCall(request, status) === null) return payload;
    try {
      await db.transaction().execute((tx) => impersonation.logInTransaction(tx, request, status));
      return payload;
    } catch (error) {
      return refuse(request, reply, error);
    }
  });
}

/** An answer that comes before a request's first step has no state. */
function isLogged(request: FastifyRequest): boolean {
  const state: FastifyRequest["state"] | undefined = request.state;
  return state === undefined || state.impersonationLogged;
}

function impersonatedCall(request: FastifyRequest, status: number): ImpersonatedCall | null {
  const { principal } = request.state;
  if (principal?.kind !== "user" || principal.impersonator === null || principal.orgId === null) return null;
  return {
    orgId: principal.orgId,
    operatorId: principal.impersonator.id,
    detail: {
      user_id: principal.id,
      reason: principal.impersonator.reason,
      method: request.method,
      path: recordedPath(request),
      status,
      request_id: request.id,
    },
  };
}
