import { newId } from "@attestore/contract";
import type { FastifyRequest } from "fastify";
import type { Insertable } from "kysely";
import { runPrepared, type PreparedQuery } from "../../database/prepared.ts";
import type { ApiLogsTable, Database } from "../../database/schema.ts";
import type { SqlSession } from "../../database/sql-session.ts";

export type ApiLogRow = Insertable<ApiLogsTable>;

const MAX_USER_AGENT = 256;
const MAX_PATH = 512;

/** The record of a call: never a body, a query or a secret. */
export function apiLogRow(request: FastifyRequest, status: number): ApiLogRow {
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

/** The path of a call as it may be stored: a poll token or a code in it is a secret. */
export function recordedPath(request: FastifyRequest): string {
  const route = request.state.route?.path ?? "";
  const secret = route.includes(":poll_token") || route.includes(":code");
  return secret ? route : pathOf(request.url).slice(0, MAX_PATH);
}

/**
 * Header values are Latin-1 and contain whatever the client sent; PostgreSQL's text accepts all of
 * it except NUL.
 */
function storableText(value: string | undefined): string | null {
  return value === undefined ? null : value.replaceAll("\0", "").slice(0, MAX_USER_AGENT);
}

/** The path of a request's URL, without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}

const INSERT_ROWS: PreparedQuery = {
  name: "insert_api_log_rows",
  text: `insert into api_logs (id, org_id, actor_kind, actor_id, impersonator_id, method, route, path, status, duration_ms,
      address, user_agent, request_id, idempotency_key, created_at)
    select id, org_id, actor_kind, actor_id, impersonator_id, method, route, path, status, duration_ms,
      address, user_agent, request_id, idempotency_key, created_at
    from json_to_recordset($1::json) as rows (id text, org_id text, actor_kind text, actor_id text, impersonator_id text,
      method text, route text, path text, status smallint, duration_ms integer, address text, user_agent text,
      request_id text, idempotency_key text, created_at timestamptz)
    on conflict do nothing`,
};

/** Existing rows stay: a connection may break after a commit and before its answer. */
export function insertApiLogRows(session: SqlSession, rows: readonly ApiLogRow[]): Promise<unknown> {
  return session.run(INSERT_ROWS, [JSON.stringify(rows)]);
}

/** The same outside a session. */
export async function writeApiLogRows(db: Database, rows: readonly ApiLogRow[]): Promise<void> {
  await runPrepared(db, INSERT_ROWS, [JSON.stringify(rows)]);
}
