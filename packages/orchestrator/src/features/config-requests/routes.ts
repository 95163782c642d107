import {
  CONFIG_REQUEST_LIFETIME_S,
  ConfigRequest,
  ConfigRequestRecord,
  Id,
  MAX_OPEN_CONFIG_REQUESTS,
  newId,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notifyAgent } from "../../platform/database/agent-notices.ts";
import type { Clock } from "../../platform/clock.ts";
import { ApiError, invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { findAgentOf } from "../agents/store.ts";
import { configRequestRecord } from "./serialize.ts";
import { countOpen, findConfigRequest, insertConfigRequest } from "./store.ts";

const ofAgent = Type.Object({ orgID: Id("org"), agentID: Id("agent") });

/** Requests of owners and admins to an agent whose host allows them, and its answers. */
export function configRequestRoutes({ clock }: { clock: Clock }): Route[] {
  const ask = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/agents/:agentID/config-requests",
    summary: "Ask an agent for databases, or to add a source or a check",
    action: "hosts.configure",
    credential: "user",
    params: ofAgent,
    body: ConfigRequest,
    answers: { 202: ConfigRequestRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, body, principal }, tx) {
      const { orgID: orgId, agentID: agentId } = params;
      const agent = await findAgentOf(tx, orgId, agentId);
      if (agent === null) throw notFound("agent");
      if (agent.status !== "active")
        throw new ApiError("conflict", `The agent ${agentId} is revoked. Attach the host again first.`);
      if (!agent.remote_config)
        throw new ApiError(
          "conflict",
          `The host of ${agentId} does not allow this. Only its own config.yaml can: allow_remote_config: true.`,
          { reason: "remote_config_off" },
        );
      requireMeasured(body);
      const now = clock();
      if ((await countOpen(tx, agentId, now)) >= MAX_OPEN_CONFIG_REQUESTS)
        throw new ApiError(
          "conflict",
          `The agent ${agentId} has ${MAX_OPEN_CONFIG_REQUESTS} requests that it did not answer yet. Try again when it has.`,
          { reason: "too_many_open" },
        );
      const request = await insertConfigRequest(tx, {
        id: newId("configRequest", now.getTime()),
        org_id: orgId,
        agent_id: agentId,
        asked_by: principal.id,
        request: JSON.stringify(body),
        created_at: now,
        expires_at: new Date(now.getTime() + CONFIG_REQUEST_LIFETIME_S * 1000),
      });
      await notifyAgent(tx, agentId);
      return { status: 202, body: configRequestRecord(request, now) };
    },
  });

  const show = orgReadRoute({
    method: "GET",
    path: "/api/config-requests/:requestID",
    summary: "Read such a request and the agent's answer",
    action: "hosts.configure",
    params: Type.Object({ requestID: Id("configRequest") }),
    answers: { 200: ConfigRequestRecord },
    rateLimits: ["default"],
    async handle({ orgId, params }, tx) {
      const request = await findConfigRequest(tx, orgId, params.requestID);
      if (request === null) throw notFound("request");
      return { status: 200, body: configRequestRecord(request, clock()) };
    },
  });

  return [ask, show];
}

/** The one rule that the schema does not say: rows are a table's, everything else is a column's. */
function requireMeasured(request: ConfigRequest): void {
  if (request.kind !== "try_check" || (request.measure === "rows") === (request.column === undefined)) return;
  throw invalidRequest("This measure does not apply to this column.", [
    {
      path: "/column",
      message: request.column === undefined ? "is missing" : "applies to every measure except rows",
    },
  ]);
}
