import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { IDEMPOTENCY_WINDOW_S, LINES_TYPE, MAX_ANONYMOUS_BODY_BYTES } from "@attestore/contract";
import type { Database } from "../database/schema.ts";
import type { Logger } from "../logging/logger.ts";
import type { AgentCredentials } from "./credentials/agent-credentials.ts";
import { type WireAnswer, toWire } from "./route/answer.ts";
import { apiLogRow, pathOf } from "./api-log/api-log-row.ts";
import type { AnswerTo } from "./error-answer.ts";
import { authenticate, orgOfCall } from "./credentials/authenticate.ts";
import { ApiError, invalidRequest } from "../errors/api-error.ts";
import type { FailedCredentials } from "./limits/failed-credentials.ts";
import type { FileAnswer } from "./route/file-answer.ts";
import type { Impersonation } from "./api-log/log-impersonated-calls.ts";
import { invalidJson } from "./body/json-body.ts";
import { readInOrg } from "../database/org-scope.ts";
import { ALWAYS, subjectOf } from "./route/principal.ts";
import {
  type RateLimiting,
  applyRateLimits,
  applyRequestQuota,
  countEmail,
  countFailure,
} from "./limits/rate-limit.ts";
import type { ReadConcurrency } from "./limits/read-concurrency.ts";
import type { Call, Route, SubmissionRecord } from "./route/route.ts";
import { rememberRefusal, runWrite } from "./run-write.ts";
import type { Sealer } from "./sealer.ts";
import { lineValidator, submitLines } from "./submit-lines.ts";
import { connectionAuthenticated } from "./limits/unauthenticated-connections.ts";
import { isBodyOptional, schemaOf } from "./body/validate.ts";
import { assertAllowed } from "./route/policy.ts";
import { bodyFingerprint, idempotencyScope, isRemembered, readIdempotencyKey } from "./idempotency.ts";

export interface PipelineDeps {
  db: Database;
  sealer: Sealer;
  logger: Logger;
  limiting: RateLimiting;
  agents: AgentCredentials;
  impersonation: Impersonation;
  failures: FailedCredentials;
  /** For the calls that read an organisation. */
  reading: ReadConcurrency;
  /** The origin of the service's own pages. */
  origin: string;
  shutdown: AbortSignal;
  /** As `AppOptions.answerTo`. */
  answerTo: AnswerTo | undefined;
}

/**
 * The steps of a request, in this order: authenticate, authorise, rate limit (before the body is
 * read), validate, idempotency, handler in its transaction, answer, API log.
 */
export function mountRoute(app: FastifyInstance, deps: PipelineDeps, route: Route): void {
  const validateLine = route.mode === "submit" && route.lines !== undefined ? lineValidator(route) : null;
  app.route({
    method: route.method,
    url: route.path,
    config: { route },
    schema: schemaOf(route),
    ...bodyLimitOf(route),
    onRequest: (request, reply) => admit(deps, route, request, reply),
    preValidation: (request, _reply, done) => {
      try {
        request.state.idempotencyKey = changes(route)
          ? readIdempotencyKey(request.headers["idempotency-key"])
          : null;
        if (request.state.lines !== null) assertNoKey(request.state.idempotencyKey);
        else assertBodyWhereNeeded(route, request);
        done();
      } catch (error) {
        done(error as ApiError);
      }
    },
    handler: async (request, reply) => {
      const call = callOf(deps, request, reply);
      if (route.mode === "file") return sendFile(reply, await route.handle(call));
      const { lines } = request.state;
      if (route.mode === "submit" && lines !== null && validateLine !== null) {
        const others = lines.length - 1;
        if (others > 0)
          await applyRateLimits(deps.limiting, "credential", route, request.state, reply, others);
        const answers = await submitLines(deps, { route, validate: validateLine }, request, call);
        return reply.type(LINES_TYPE).send(answers);
      }
      return send(reply, await perform(deps, route, request, call));
    },
  });
}

/** The limit for callers without an account: nobody knows yet whom to count it against. */
function bodyLimitOf(route: Route): { bodyLimit?: number } {
  const { bodyLimit, credential } = route;
  // The parser of one submission holds it to its own limit.
  if (route.mode === "submit" && route.lines !== undefined) return { bodyLimit: route.lines.bytes };
  if (bodyLimit !== undefined) return { bodyLimit };
  return credential === "anonymous" ? { bodyLimit: MAX_ANONYMOUS_BODY_BYTES } : {};
}

function changes(route: Route): route is Extract<Route, { mode: "write" | "submit" }> {
  return route.mode === "write" || route.mode === "submit";
}

async function admit(
  deps: PipelineDeps,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { state } = request;
  await applyRateLimits(deps.limiting, "address", route, state, reply);
  if (route.credential !== "anonymous") deps.failures.require(state.address);
  try {
    const principal = await authenticate(deps, route, request);
    state.orgId = await orgOfCall(deps.db, principal, request);
    state.subject = { ...subjectOf(principal), orgId: state.orgId };
    assertAllowed(principal, route);
    if (principal.kind !== "anonymous") connectionAuthenticated(request.raw);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) deps.failures.count(state.address);
    if (error instanceof ApiError) await countFailure(deps.limiting, route, state, reply);
    throw error;
  }
  await applyRateLimits(deps.limiting, "credential", route, state, reply);
  await applyRequestQuota(deps.limiting, route, state, reply);
}

/** The service recognises each of them by its content, so the whole body can be repeated anyway. */
function assertNoKey(key: string | null): void {
  if (key !== null)
    throw new ApiError(
      "invalid_idempotency_key",
      "Several submissions in one body take no Idempotency-Key. Repeat them without one: for an entry that is already in the log, you get its place.",
    );
}

function assertBodyWhereNeeded(route: Route, request: FastifyRequest): void {
  const { body } = request;
  if (route.body !== undefined) {
    if (request.state.rawBody.length > 0) return;
    if (!isBodyOptional(route.body)) throw invalidJson("This call needs a JSON body.");
    request.body = {};
    return;
  }
  if (body === undefined || body === null) return;
  const empty = typeof body === "object" && !Array.isArray(body) && Object.keys(body).length === 0;
  if (!empty)
    throw invalidRequest("This call takes no body.", [{ path: "", message: "must be absent or {}" }]);
}

async function perform(
  deps: PipelineDeps,
  route: Exclude<Route, { mode: "file" }>,
  request: FastifyRequest,
  call: Call,
): Promise<WireAnswer> {
  const { state } = request;
  switch (route.mode) {
    case "read": {
      const answer = await route.handle(call);
      state.apiLogSettled = route.unrecorded === true;
      return toWire(answer);
    }
    case "org_read": {
      const { orgId, principal } = call;
      if (orgId === null || (principal.kind !== "user" && principal.kind !== "auditor_link"))
        throw new Error("a reading of an organisation was reached without one");
      const answer = await readInOrg(
        deps.db,
        orgId,
        (tx) => route.handle({ ...call, orgId, principal }, tx),
        (transaction) => deps.reading.take(orgId, transaction),
      );
      return toWire(answer);
    }
    case "write":
    case "submit": {
      const record = recordOf(route, request, call);
      const answer =
        route.mode === "write"
          ? await runWrite(deps, route, call, record, (tx, status) =>
              deps.impersonation.logInTransaction(tx, request, status),
            )
          : await submit(deps, route, call, record);
      state.apiLogSettled = !answer.replayed;
      state.impersonationLogged = !answer.replayed;
      return answer;
    }
  }
}

async function submit(
  deps: PipelineDeps,
  route: Extract<Route, { mode: "submit" }>,
  call: Call,
  record: SubmissionRecord,
): Promise<WireAnswer> {
  try {
    return await route.handle(call, record);
  } catch (error) {
    if (!(error instanceof ApiError) || !isRemembered(error)) throw error;
    return rememberRefusal(deps, call, record, error);
  }
}

function callOf(deps: PipelineDeps, request: FastifyRequest, reply: FastifyReply): Call {
  const { state } = request;
  if (state.principal === null) throw new Error("a handler was reached without authentication");
  return {
    requestId: request.id,
    principal: state.principal,
    orgId: state.orgId,
    within: state.principal.kind === "auditor_link" ? state.principal.within : ALWAYS,
    address: state.address,
    body: request.body,
    rawBody: state.rawBody,
    query: request.query,
    params: request.params,
    header: (name) => {
      const value = request.headers[name];
      return typeof value === "string" ? value : undefined;
    },
    logger: deps.logger,
    get signal() {
      return AbortSignal.any([deps.shutdown, request.signal]);
    },
    countAgainst: (name, email, tx) =>
      countEmail(deps.limiting, name, { email, address: state.address }, reply, tx),
  };
}

function recordOf(route: Route, request: FastifyRequest, call: Call): SubmissionRecord {
  const key = request.state.idempotencyKey;
  const createdAt = new Date();
  const window_s = route.idempotencyWindow_s ?? IDEMPOTENCY_WINDOW_S;
  return {
    idempotency:
      key === null
        ? null
        : {
            scopeSha256: idempotencyScope({
              credential: call.principal.credential,
              method: request.method,
              path: pathOf(request.url),
              key,
            }),
            fingerprint: bodyFingerprint(call.rawBody),
            createdAt,
            expiresAt: new Date(createdAt.getTime() + window_s * 1000),
          },
    apiLogRow: (status) => apiLogRow(request, status),
  };
}

function send(reply: FastifyReply, answer: WireAnswer): FastifyReply {
  reply.code(answer.status).type("application/json; charset=utf-8");
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.replayed) {
    reply.header("idempotent-replayed", "true");
    // A remembered refusal names the request that it answered; the header keeps agreeing with the
    // body.
    const first = answer.status >= 400 ? requestIdIn(answer.body) : null;
    if (first !== null) reply.header("x-request-id", first);
  }
  return reply.send(answer.body);
}

function sendFile(reply: FastifyReply, { status, headers, content }: FileAnswer): FastifyReply {
  reply.code(status).headers(headers);
  if (reply.request.method !== "HEAD" || !(content instanceof Readable)) return reply.send(content);
  // Fastify would read all of it and drop it, even if it is generated for hours.
  content.destroy();
  return reply.send(Readable.from([]));
}

function requestIdIn(body: Buffer): string | null {
  const parsed: unknown = JSON.parse(body.toString());
  if (typeof parsed !== "object" || parsed === null || !("request_id" in parsed)) return null;
  return typeof parsed.request_id === "string" ? parsed.request_id : null;
}
