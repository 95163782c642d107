import {
  AttachRequest,
  CODE_LIFETIME_S,
  newId,
  POLL_TOKEN,
  Attached,
  AttachPending,
  BootstrapStarted,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { reserveAgent } from "../quotas/require-room.ts";
import { mintAgent } from "../agents/mint-agent.ts";
import { useAuthKey } from "../auth-keys/use-auth-key.ts";
import { newCode, newPollToken } from "../secrets.ts";
import { readAttachRequest } from "./attach-request.ts";
import { pollBootstrap } from "./poll.ts";
import { attached, type AttachDeps } from "./attached-answer.ts";
import { insertBootstrap } from "./store.ts";

const RETRY_AFTER_S = 5;

export function attachRoutes(db: Database, deps: AttachDeps): Route[] {
  const attach = writeRoute({
    method: "POST",
    path: "/api/bootstrap/attach",
    summary: "Attach an agent with an auth key",
    action: "attach.with_key",
    answers: { 201: Attached },
    errors: ["quota_exceeded"],
    credential: "auth_key",
    body: AttachRequest,
    rateLimits: ["attach_failures"],
    secret: true,
    async handle({ body, principal }, tx) {
      const agent = readAttachRequest(body);
      await useAuthKey(tx, principal.id);
      const { orgId, id: actorId } = principal;
      await reserveAgent(tx, deps.quotas, orgId);
      const minted = await mintAgent(tx, { ...agent, orgId, actorId });
      return { status: 201, body: attached(deps, { orgId, ...minted }) };
    },
  });

  const start = writeRoute({
    method: "POST",
    path: "/api/bootstrap/start",
    summary: "Start an interactive attach",
    action: "attach.start",
    answers: { 201: BootstrapStarted },
    credential: "anonymous",
    body: AttachRequest,
    rateLimits: ["bootstrap_start"],
    secret: true,
    async handle({ body, address }, tx) {
      const agent = readAttachRequest(body);
      const code = newCode();
      const pollToken = newPollToken();
      const now = Date.now();
      const expiresAt = new Date(now + CODE_LIFETIME_S * 1000);
      await insertBootstrap(tx, {
        id: newId("bootstrap", now),
        code_sha256: credentialHash(code),
        poll_token_sha256: credentialHash(pollToken),
        name: agent.name,
        hostname: agent.hostname,
        platform: agent.platform,
        agent_version: agent.agentVersion,
        public_key: Buffer.from(agent.publicKey.bytes),
        address,
        created_at: new Date(now),
        expires_at: expiresAt,
      });
      return {
        status: 201,
        body: {
          code,
          poll_token: pollToken,
          attach_url: `${deps.publicUrl}/attach?code=${code}`,
          expires_at: expiresAt.toISOString(),
          interval_s: RETRY_AFTER_S,
        },
      };
    },
  });

  const poll = readRoute({
    method: "GET",
    path: "/api/bootstrap/:poll_token",
    summary: "Wait for the decision on an interactive attach",
    action: "attach.poll",
    answers: { 200: Attached, 202: AttachPending },
    errors: ["attach_denied", "attach_expired"],
    credential: "anonymous",
    params: Type.Object({
      poll_token: Type.String({ pattern: POLL_TOKEN.source, examples: [`atp_${"A".repeat(43)}`] }),
    }),
    rateLimits: ["default"],
    handle: ({ params, signal }) => pollBootstrap(db, deps, params.poll_token, signal),
  });

  return [attach, start, poll];
}
