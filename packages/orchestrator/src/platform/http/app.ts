import { fastify, type FastifyInstance } from "fastify";
import { MAX_BODY_BYTES, newId } from "@attestore/contract";
import type { IncomingMessage } from "node:http";
import type { ServerOptions } from "node:https";
import { Server as TlsServer } from "node:tls";
import type { Database } from "../database/schema.ts";
import { openFileLimit } from "../files/open-files.ts";
import type { Logger } from "../logging/logger.ts";
import { invalidRequest } from "../errors/api-error.ts";
import { AgentCredentials } from "./credentials/agent-credentials.ts";
import { ApiLogBuffer } from "./api-log/api-log-buffer.ts";
import { apiLogRow } from "./api-log/api-log-row.ts";
import { sendError, toApiError, type AnswerTo } from "./error-answer.ts";
import {
  type AppendImpersonatedCall,
  impersonationLogger,
  logImpersonatedCalls,
} from "./api-log/log-impersonated-calls.ts";
import { announcesBody, limitBodyTime } from "./limits/body-deadline.ts";
import { acceptJsonOnly } from "./body/json-body.ts";
import { logRefusals } from "./api-log/log-refusals.ts";
import { answerMalformedHttp } from "./malformed-http.ts";
import { letGoOfSlowReaders } from "./limits/slow-readers.ts";
import { mountRoute, type PipelineDeps } from "./mount-route.ts";
import {
  limitUnauthenticated,
  MOST_OF_ADDRESS,
  UNAUTHENTICATED_MS,
  withinOpenFiles,
  type ConnectionLimits,
} from "./limits/unauthenticated-connections.ts";
import { validatorCompiler } from "./body/compile-validator.ts";
import { CountedRateLimits } from "./limits/rate-limit-store.ts";
import { ProcessRateLimits } from "./limits/process-rate-limits.ts";
import { RATE_LIMITS, type RateLimitTable } from "./route/rate-limits.ts";
import { ReadConcurrency } from "./limits/read-concurrency.ts";
import { FailedCredentials, MOST_FAILURES } from "./limits/failed-credentials.ts";
import { newRequestState } from "./route/request-state.ts";
import { ReservedRateLimits } from "./limits/reserved-rate-limits.ts";
import type { Route } from "./route/route.ts";
import type { Sealer } from "./sealer.ts";
import { strictTransport } from "./strict-transport.ts";
import { KnownPaths } from "./unknown-path.ts";

const MAX_HEADER_BYTES = 16 * 1024;

export interface AppOptions {
  db: Database;
  sealer: Sealer;
  logger: Logger;
  /** Key, certificate, protocol and suites. */
  tls: ServerOptions;
  routes: readonly Route[];
  /** Aborted when the service begins to shut down: held requests end then. */
  shutdown: AbortSignal;
  /**
   * Whose `X-Forwarded-For` is trusted: by default nobody's, otherwise that of these proxies'
   * addresses or networks.
   */
  trustProxy?: readonly string[];
  rateLimits?: RateLimitTable;
  /**
   * Calls that an organisation may make in the window of `org_requests`, null for any number; by
   * default the table's limit.
   */
  requestQuota?: (orgId: string) => Promise<number | null>;
  /** Where the service's own pages are, e.g. `https://backups.example.org`. */
  publicUrl: string;
  /** Writes a call that an operator made as somebody else to the organisation's log. */
  appendImpersonatedCall: AppendImpersonatedCall;
  /** The answer to an error from outside HTTP, e.g. that a log was set back. */
  answerTo?: AnswerTo;
  /** Processes that take turns at the same port, this one included; 1 by default. */
  workers?: number;
  /** Only tests set other limits. */
  connections?: ConnectionLimits;
  slowReaders?: Parameters<typeof letGoOfSlowReaders>[1];
  /** Runs once for each agent, before its first authenticated call continues. */
  firstAgentCall: (agentId: string) => Promise<void>;
}

/**
 * The service's HTTPS server, not yet listening. Every answer is the contract's: X-Request-Id,
 * JSON, and for a refusal an error of its table. `close()` waits for running requests and writes
 * the waiting API log rows.
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const { db, logger } = options;
  const app = fastify({
    https: {
      ...options.tls,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Refused below: Node's own refusal is not in the contract.
      requireHostHeader: false,
      handshakeTimeout: options.connections?.within_ms ?? UNAUTHENTICATED_MS,
    },
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: options.trustProxy === undefined ? false : [...options.trustProxy],
    return503OnClosing: false,
    // A busy machine may take longer than ten seconds to read the dashboard. It should start all
    // the same.
    pluginTimeout: 0,
    genReqId: () => newId("request"),
    clientErrorHandler: answerMalformedHttp,
    frameworkErrors: (error, request, reply) => {
      sendError(reply, request, toApiError(error, request, options));
    },
  }) as unknown as FastifyInstance;

  // Without this Node itself refuses expectations other than 100-continue, with an answer that is
  // not in the contract.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  if (app.server instanceof TlsServer)
    limitUnauthenticated(
      app.server,
      {
        ...withinOpenFiles(openFileLimit(), shareOf(MOST_OF_ADDRESS, options.workers)),
        onRefused: logRefusals(logger),
        ...options.connections,
      },
      options.trustProxy,
    );
  letGoOfSlowReaders(app.server, options.slowReaders);

  const apiLog = new ApiLogBuffer(db, logger);
  const deps = pipelineDeps(options);
  const paths = new KnownPaths();
  app.addHook("onRoute", (route) => paths.add(route));
  acceptJsonOnly(app);
  app.setValidatorCompiler(validatorCompiler());
  app.decorateRequest("state");
  beginRequests(app, strictTransport(options.publicUrl), paths);
  logImpersonatedCalls(app, deps);
  endRequests(app, options.shutdown, apiLog);
  app.addHook("onClose", () => apiLog.flush());
  app.setErrorHandler((error, request, reply) =>
    sendError(reply, request, toApiError(error, request, options)),
  );
  app.setNotFoundHandler((request, reply) => sendError(reply, request, paths.refuse(request)));
  for (const route of options.routes) mountRoute(app, deps, route);
  return app;
}

/** What every request needs on its way. */
function pipelineDeps(options: AppOptions): PipelineDeps {
  const { db, sealer, logger } = options;
  const table = options.rateLimits ?? RATE_LIMITS;
  const limiting = {
    table,
    requestQuota: options.requestQuota ?? (() => Promise.resolve(table.org_requests.limit)),
    stores: {
      counted: new CountedRateLimits(db),
      reserved: new ReservedRateLimits(db),
      process: new ProcessRateLimits(),
    },
  };
  return {
    db,
    sealer,
    logger,
    limiting,
    agents: new AgentCredentials(db, options.firstAgentCall),
    reading: new ReadConcurrency(),
    failures: new FailedCredentials(shareOf(MOST_FAILURES, options.workers)),
    impersonation: impersonationLogger(options.appendImpersonatedCall),
    origin: new URL(options.publicUrl).origin,
    shutdown: options.shutdown,
    answerTo: options.answerTo,
  };
}

/** Gives each request its state and the headers of its answer, before anything else. */
function beginRequests(
  app: FastifyInstance,
  transport: ReturnType<typeof strictTransport>,
  paths: KnownPaths,
): void {
  app.addHook("onRequest", (request, reply, done) => {
    request.state = newRequestState(request);
    reply.headers({
      "x-request-id": request.id,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...transport,
    });
    if (request.is404 || request.state.route !== null) limitBodyTime(request.raw);
    // Nobody reads the body of a GET, so the next bytes on the connection could be mistaken for it.
    if ((request.method === "GET" || request.method === "HEAD") && announcesBody(request.raw))
      reply.header("connection", "close");
    // Answered before any body is read.
    if (lacksHost(request.raw))
      sendError(reply.header("connection", "close"), request, invalidRequest("The request has no Host.", []));
    else if (request.is404) sendError(reply, request, paths.refuse(request));
    else done();
  });
}

function endRequests(app: FastifyInstance, shutdown: AbortSignal, apiLog: ApiLogBuffer): void {
  app.addHook("onSend", (_request, reply, payload, done) => {
    // Otherwise closing would wait until clients let their idle connections go.
    if (shutdown.aborted) reply.header("connection", "close");
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { state } = request;
    // Calls that belong to nobody and changed nothing are not recorded: no organisation could list
    // them.
    if (!state.apiLogSettled && state.subject.id !== null)
      apiLog.record(apiLogRow(request, reply.statusCode));
    done();
  });
}

/** RFC 9112 section 3.2: HTTP/1.1 requires a Host, earlier versions do not. */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.host === undefined;
}

/** Few enough for one of many workers, and still enough for the agents behind one address. */
const LEAST_SHARE = 64;

/**
 * One worker's share of a limit for an address: the workers get its connections in turn.
 */
function shareOf(limit: number, workers = 1): number {
  return workers === 1 ? limit : Math.max(LEAST_SHARE, Math.ceil(limit / workers));
}
