import { BootstrapRecord, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { reserveAgent } from "../quotas/require-room.ts";
import type { QuotaDefaults } from "../quotas/settings.ts";
import { serializeBootstrap } from "./serialize.ts";
import { approveBootstrap, denyBootstrap, reviewBootstrap } from "./review.ts";

/** A text that can't be a code gets the same answer as an unknown code. */
const ofCode = Type.Object({ orgID: Id("org"), code: Type.String({ maxLength: 32 }) });

export function attachReviewRoutes({ sealer, quotas }: { sealer: Sealer; quotas: QuotaDefaults }): Route[] {
  const review = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/bootstraps/:code",
    summary: "Review an interactive attach",
    action: "attach.review",
    params: ofCode,
    answers: { 200: BootstrapRecord },
    errors: ["attach_expired"],
    rateLimits: ["default"],
    async handle({ orgId, params }, tx) {
      return { status: 200, body: serializeBootstrap(await reviewBootstrap(tx, params.code, orgId)) };
    },
  });

  const approve = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/bootstraps/:code/approve",
    summary: "Approve an interactive attach",
    action: "attach.decide",
    credential: "user",
    params: ofCode,
    answers: { 200: BootstrapRecord },
    errors: ["conflict", "attach_expired", "quota_exceeded"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const decision = { code: params.code, orgId: params.orgID, decidedBy: principal.id };
      await reserveAgent(tx, quotas, decision.orgId);
      const { bootstrap } = await approveBootstrap(tx, sealer, decision);
      return { status: 200, body: serializeBootstrap(bootstrap) };
    },
  });

  const deny = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/bootstraps/:code/deny",
    summary: "Deny an interactive attach",
    action: "attach.decide",
    credential: "user",
    params: ofCode,
    answers: { 200: BootstrapRecord },
    errors: ["conflict", "attach_expired"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const decision = { code: params.code, orgId: params.orgID, decidedBy: principal.id };
      return { status: 200, body: serializeBootstrap(await denyBootstrap(tx, decision)) };
    },
  });

  return [review, approve, deny];
}
