import { ChangeQuotasRequest, Id, QuotasRecord } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { Database } from "../../platform/database/schema.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { lockOrg } from "../orgs/lock-org.ts";
import type { QuotaDefaults } from "./settings.ts";
import { changeLimits, readLimits, readUsage } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });

export function quotaRoutes({ quotas: defaults }: { quotas: QuotaDefaults }): Route[] {
  const show = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/quotas",
    summary: "An organisation's quotas, and how much of each is used",
    action: "quotas.read",
    params: ofOrg,
    answers: { 200: QuotasRecord },
    rateLimits: ["default"],
    async handle({ orgId }, tx) {
      return { status: 200, body: await quotasRecord(tx, orgId, defaults) };
    },
  });

  const change = writeRoute({
    method: "PATCH",
    path: "/api/orgs/:orgID/quotas",
    summary: "Set an organisation's quotas, instead of the service's defaults",
    action: "quotas.change",
    credential: "user",
    params: ofOrg,
    body: ChangeQuotasRequest,
    answers: { 200: QuotasRecord },
    rateLimits: ["default"],
    async handle({ body, params: { orgID: orgId }, principal }, tx) {
      await lockOrg(tx, orgId);
      await changeLimits(tx, orgId, body);
      await appendInTransaction(tx, [
        {
          orgId,
          kind: "quotas_changed",
          actorId: principal.id,
          occurredAt: new Date(),
          detail: { ...body },
        },
      ]);
      return { status: 200, body: await quotasRecord(tx, orgId, defaults) };
    },
  });

  return [show, change];
}

async function quotasRecord(db: Database, orgId: string, defaults: QuotaDefaults): Promise<QuotasRecord> {
  const limits = await readLimits(db, orgId, defaults);
  const used = await readUsage(db, orgId);
  const of = (name: "bytes" | "objects" | "agents") => ({
    used: used[name],
    limit: limits[name],
    default: defaults[name],
  });
  return {
    org_id: orgId,
    bytes: of("bytes"),
    objects: of("objects"),
    agents: of("agents"),
    requests: { limit: limits.requests, default: defaults.requests, window_s: defaults.window_s },
  };
}
