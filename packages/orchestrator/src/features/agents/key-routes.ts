import { AgentKeyRecord, Id, RotateAgentKeyRequest } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { isWithin, knownUntil, listOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { readRotation, rotateKey } from "./rotate-key.ts";
import { listRetiredKeys, serializeKeys } from "./signing-keys.ts";
import { findAgentOf } from "./store.ts";

export function agentKeyRoutes({ clock }: { clock: Clock }): Route[] {
  const rotate = writeRoute({
    method: "POST",
    path: "/v1/agent/key",
    summary: "Replace the agent's signing key; the old and the new key sign each other",
    action: "agent.rotate_key",
    credential: "agent",
    body: RotateAgentKeyRequest,
    answers: { 200: AgentKeyRecord },
    errors: ["receipt_signature_invalid", "statement_invalid", "statement_mismatch", "conflict"],
    rateLimits: ["default"],
    prepare: ({ body, principal }) => readRotation(body, principal, clock()),
    async handle({ body }, tx, rotation) {
      return { status: 200, body: await rotateKey(tx, rotation, body, clock()) };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/agents/:agentID/keys",
    summary: "List an agent's signing keys, the current one first, and the rotations between them",
    action: "agents.read",
    params: Type.Object({ orgID: Id("org"), agentID: Id("agent") }),
    answers: { 200: listOf(AgentKeyRecord) },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, params, within }, tx) {
      const agent = await findAgentOf(tx, orgId, params.agentID);
      if (agent === null || !isWithin(knownUntil(within), agent.created_at)) throw notFound("agent");
      const keys = serializeKeys(agent, await listRetiredKeys(tx, [agent.id]));
      return { status: 200, body: { items: keys, next_cursor: null } };
    },
  });

  return [rotate, list];
}
