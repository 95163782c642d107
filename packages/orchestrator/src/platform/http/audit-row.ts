import { newId } from "@attestore/contract";
import type { FastifyRequest } from "fastify";
import type { Insertable } from "kysely";
import type { ApiLogsTable } from "../database/schema.ts";

export type AuditRow = Insertable<ApiLogsTable>;

const MAX_USER_AGENT = 256;
const MAX_PATH = 512;

/** What is recorded of one call: never a body, a query or a secret. */
export function auditRow(request: FastifyRequest, status: number): AuditRow {
  const { state } = request;
  const route = state.route?.path ?? "";
  const now = new Date();
  return {
    id: newId("apiLog", now.getTime()),
    org_id: state.subject.orgId,
    actor_kind: state.subject.kind,
    actor_id: state.subject.id,
    impersonator_id: state.subject.impersonatorId,
    method: request.method,
    route,
    path: recordedPath(request),
    status,
    duration_ms: Math.round(performance.now() - state.startedAt),
    address: state.address,
    user_agent: storableText(request.headers["user-agent"]),
    request_id: request.id,
    idempotency_key: state.idempotencyKey,
    created_at: now,
  };
}

/** The path of a call as it may be kept: a poll token or a code in it is a secret. */
export function recordedPath(request: FastifyRequest): string {
  const route = request.state.route?.path ?? "";
  const secret = route.includes(":poll_token") || route.includes(":code");
  return secret ? route : pathOf(request.url).slice(0, MAX_PATH);
}

/** Header values are Latin-1 and hold what the client liked; PostgreSQL's text takes all of it but NUL. */
function storableText(value: string | undefined): string | null {
  return value === undefined ? null : value.replaceAll("\0", "").slice(0, MAX_USER_AGENT);
}

/** The path of a request's URL, without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
