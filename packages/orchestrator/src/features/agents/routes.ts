import { AgentRecord, AgentStatus, Id, RenameAgentRequest } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notFound } from "../../platform/errors/api-error.ts";
import {
  isWithin,
  knownUntil,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { serializeAgent } from "./serialize.ts";
import { revokeAgent } from "./revoke-agent.ts";
import { findAgentOf, listAgentPage, renameAgent } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });
const ofAgent = Type.Object({ orgID: Id("org"), agentID: Id("agent") });

export function agentRoutes(): Route[] {
  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/agents",
    summary: "List the agents of an organisation",
    action: "agents.read",
    params: ofOrg,
    query: listQuery({ ...period, status: Type.Optional(AgentStatus) }),
    answers: { 200: listOf(AgentRecord) },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, query, within }, tx) {
      const page = pageOf("agent", query);
      const agents = await listAgentPage(tx, orgId, {
        page,
        ...periodOf(query, knownUntil(within)),
        status: query.status ?? null,
      });
      return { status: 200, body: paged(agents, page, serializeAgent) };
    },
  });

  const show = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/agents/:agentID",
    summary: "One agent",
    action: "agents.read",
    params: ofAgent,
    answers: { 200: AgentRecord },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, params, within }, tx) {
      const agent = await findAgentOf(tx, orgId, params.agentID);
      if (agent === null || !isWithin(knownUntil(within), agent.created_at)) throw notFound("agent");
      return { status: 200, body: serializeAgent(agent) };
    },
  });

  const rename = writeRoute({
    method: "PATCH",
    path: "/api/orgs/:orgID/agents/:agentID",
    summary: "Rename an agent",
    action: "agents.manage",
    credential: "user",
    params: ofAgent,
    body: RenameAgentRequest,
    answers: { 200: AgentRecord },
    rateLimits: ["default"],
    async handle({ body, params }, tx) {
      const agent = await renameAgent(tx, params.orgID, params.agentID, body.name);
      if (agent === null) throw notFound("agent");
      return { status: 200, body: serializeAgent(agent) };
    },
  });

  const revoke = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/agents/:agentID/revoke",
    summary: "Revoke an agent at once; its record and receipts stay",
    action: "agents.manage",
    credential: "user",
    params: ofAgent,
    answers: { 200: AgentRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      if ((await findAgentOf(tx, params.orgID, params.agentID)) === null) throw notFound("agent");
      const agent = await revokeAgent(tx, { agentId: params.agentID, actorId: principal.id });
      return { status: 200, body: serializeAgent(agent) };
    },
  });

  return [list, show, rename, revoke];
}
