import { Id, MakersReceipt } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { transactionSession } from "../../platform/database/sql-session.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { readRoute, type Route } from "../../platform/http/route/route.ts";
import { listRetiredKeys } from "../agents/signing-keys.ts";
import { isAgentOf } from "../sources/source-agents.ts";
import { readBundle } from "./bundle.ts";
import type { ReceiptReadingDeps } from "./dashboard-routes.ts";
import { findMakersReceipt } from "./queries.ts";

/**
 * For an agent that restores a backup which another agent made: it relies on the maker's signature,
 * and not on this service.
 */
export function makersReceiptRoutes({ db, signer, envelopes }: ReceiptReadingDeps): Route[] {
  return [
    readRoute({
      method: "GET",
      path: "/v1/backups/:id/receipt",
      summary: "The receipt of a backup from the agent that made it, with its proof",
      action: "backup.download",
      answers: { 200: MakersReceipt },
      errors: ["not_found"],
      credential: "agent",
      params: Type.Object({ id: Id("backup") }),
      rateLimits: ["default"],
      async handle({ principal, params }) {
        const body = await readInOrg(db, principal.orgId, async (tx) => {
          const found = await findMakersReceipt(tx, envelopes, principal.orgId, params.id);
          if (found === null) throw notFound("receipt of this backup");
          if (!(await isAgentOf(tx, found.source_id, principal.id)))
            throw new ApiError(
              "forbidden",
              "This agent neither makes nor tests the backups of that source. In the source's settings in the dashboard, an owner or admin can make it the one that does.",
            );
          const retired = await listRetiredKeys(tx, [found.agent_id]);
          const receipt = await readBundle(transactionSession(tx), signer, found);
          return { receipt, rotations: retired.map(({ rotation }) => rotation) };
        });
        return { status: 200, body };
      },
    }),
  ];
}
