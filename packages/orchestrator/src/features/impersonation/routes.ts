import { ImpersonateRequest, SessionStarted } from "@attestore/contract";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { type Route, writeRoute } from "../../platform/http/route/route.ts";
import { sessionAnswer } from "../sign-in/session-answer.ts";
import { userById } from "../users/find-user.ts";
import { appendImpersonatedCall } from "./append-call.ts";
import { endImpersonation, startImpersonation } from "./impersonate.ts";

export function impersonationRoutes(): Route[] {
  const start = writeRoute({
    method: "POST",
    path: "/api/auth/impersonate",
    summary: "Read as a customer's user, for an hour; each call is recorded in their organisation's log",
    action: "impersonation.start",
    credential: "user",
    body: ImpersonateRequest,
    answers: { 200: SessionStarted },
    errors: ["not_found"],
    rateLimits: ["default"],
    secret: true,
    async handle({ body, principal, requestId }, tx) {
      const user = await userById(tx, body.user_id);
      if (user === null || user.org_id === null) throw notFound("user");
      const answer = await sessionAnswer(
        tx,
        user,
        await startImpersonation(tx, principal, user.id, body.reason),
      );
      // Last, because it keeps the log locked until the commit. The pipeline logs the calls that
      // follow.
      await appendImpersonatedCall(tx, {
        orgId: user.org_id,
        operatorId: principal.id,
        detail: {
          user_id: user.id,
          reason: body.reason,
          method: "POST",
          path: "/api/auth/impersonate",
          status: answer.status,
          request_id: requestId,
        },
      });
      return answer;
    },
  });

  const end = writeRoute({
    method: "POST",
    path: "/api/auth/end-impersonate",
    summary: "End an impersonation",
    action: "impersonation.end",
    beyondOrg: true,
    credential: "user",
    answers: { 200: SessionStarted },
    errors: ["conflict"],
    rateLimits: ["default"],
    secret: true,
    async handle({ principal }, tx) {
      const { impersonator } = principal;
      if (impersonator === null) throw new ApiError("conflict", "This session does not impersonate anybody.");
      const operator = await userById(tx, impersonator.id);
      if (operator === null) throw notFound("operator");
      return sessionAnswer(tx, operator, await endImpersonation(tx, principal.credential, impersonator));
    },
  });

  return [start, end];
}
