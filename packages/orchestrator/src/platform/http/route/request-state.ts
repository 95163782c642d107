import type { FastifyRequest } from "fastify";
import { NOBODY, type Principal, type Subject } from "./principal.ts";
import type { Route } from "./route.ts";

/** Results of a request's steps for the later steps. */
export interface RequestState {
  startedAt: number;
  address: string;
  /** Null for paths without a route. */
  route: Route | null;
  principal: Principal | null;
  subject: Subject;
  /** The organisation that the call is about. */
  orgId: string | null;
  rawBody: Buffer;
  /** The lines of a body of several submissions; null for any other body. */
  lines: readonly Buffer[] | null;
  idempotencyKey: string | null;
  /** Whether the API log has its row already, committed with the effect, or gets none. */
  apiLogSettled: boolean;
  /** Whether an impersonated call is in the organisation's log already. */
  impersonationLogged: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    state: RequestState;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

const NO_BODY = Buffer.alloc(0);

export function newRequestState(request: FastifyRequest): RequestState {
  return {
    startedAt: performance.now(),
    // gone with a socket that was closed meanwhile
    address: request.ip ?? "unknown",
    route: request.routeOptions.config.route ?? null,
    principal: null,
    subject: NOBODY,
    orgId: null,
    rawBody: NO_BODY,
    lines: null,
    idempotencyKey: null,
    apiLogSettled: false,
    impersonationLogged: false,
  };
}
