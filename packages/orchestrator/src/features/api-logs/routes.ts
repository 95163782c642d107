import { ApiLogActorKind, ApiLogRecord, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notFound } from "../../platform/errors/api-error.ts";
import {
  idRange,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { findApiLog, listApiLogs } from "./queries.ts";
import { apiLogRecord } from "./serialize.ts";

/** The API log of an organisation: who made which call. */
export function apiLogRoutes(): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/api-logs",
      summary: "List API calls",
      action: "api_logs.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        actor_id: Type.Optional(
          Type.String({
            maxLength: 100,
            pattern: "^[^\\u0000-\\u001f]*$",
            description: "The caller, or the operator who acted as them.",
            examples: ["console"],
          }),
        ),
        agent_id: Type.Optional(Id("agent")),
        method: Type.Optional(Type.Enum(["GET", "POST", "PATCH", "DELETE", "PUT", "RUN"])),
        kind: Type.Optional(ApiLogActorKind),
        status: Type.Optional(Type.String({ pattern: "^[1-5]\\d\\d$", examples: ["403"] })),
      }),
      answers: { 200: listOf(ApiLogRecord) },
      rateLimits: ["default"],
      async handle({ orgId, query: { status, ...query } }, tx) {
        const page = pageOf("apiLog", query);
        const ids = idRange("apiLog", page, periodOf(query));
        const filter = { ...query, ...(status === undefined ? {} : { status: Number(status) }) };
        const rows = await listApiLogs(tx, orgId, filter, ids, page.limit);
        return { status: 200, body: paged(rows, page, apiLogRecord) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/api-logs/:logID",
      summary: "Read one API call",
      action: "api_logs.read",
      params: Type.Object({ logID: Id("apiLog") }),
      answers: { 200: ApiLogRecord },
      rateLimits: ["default"],
      async handle({ orgId, params }, tx) {
        const row = await findApiLog(tx, orgId, params.logID);
        if (row === null) throw notFound("API call");
        return { status: 200, body: apiLogRecord(row) };
      },
    }),
  ];
}
