import { Id, Overview } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { readOverview } from "./read-overview.ts";

/** The content of the home page. */
export function overviewRoutes({
  clock,
  heartbeatInterval_s,
}: {
  clock: Clock;
  heartbeatInterval_s: number;
}): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/overview",
      summary:
        "Summary for the home page: what is proven of each source, the agents, the log and what to do next",
      action: "sources.read",
      params: Type.Object({ orgID: Id("org") }),
      query: Type.Object(
        {
          days: Type.Optional(
            Type.String({ pattern: "^(30|90)$", description: "30 or 90; default: 30.", examples: ["30"] }),
          ),
        },
        { additionalProperties: false },
      ),
      answers: { 200: Overview },
      rateLimits: ["default"],
      async handle({ orgId, query }, tx) {
        const days = query.days === "90" ? 90 : 30;
        return {
          status: 200,
          body: await readOverview(tx, orgId, { days, now: clock(), heartbeatInterval_s }),
        };
      },
    }),
  ];
}
