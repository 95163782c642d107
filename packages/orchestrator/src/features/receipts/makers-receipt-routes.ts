import { Id, MakersReceipt } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Pool } from "pg";
import type { HeadSigner } from "../../log/head-signer.ts";
import { withSession } from "../../log/sql-session.ts";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/http/errors.ts";
import { readRoute, type Route } from "../../platform/http/route.ts";
import { listRetiredKeys } from "../agents/signing-keys.ts";
import { isAgentOf } from "../sources/source-agents.ts";
import { readBundle } from "./bundle.ts";
import { findMakersReceipt } from "./listed.ts";

/** For the agent that restores a backup which another one made: it believes what the maker signed, and not this service. */
export function makersReceiptRoutes({
  db,
  pool,
  signer,
}: {
  db: Database;
  pool: Pool;
  signer: HeadSigner;
}): Route[] {
  return [
    readRoute({
      method: "GET",
      path: "/v1/backups/:id/receipt",
      summary: "What the agent that made a backup signed of it, with its proof",
      action: "backup.download",
      answers: { 200: MakersReceipt },
      errors: ["not_found"],
      credential: "agent",
      params: Type.Object({ id: Id("backup") }),
      rateLimits: ["default"],
      async handle({ principal, params }) {
        const receipt = await findMakersReceipt(db, principal.orgId, params.id);
        if (receipt === null) throw notFound("receipt of this backup");
        if (!(await isAgentOf(db, receipt.source_id, principal.id)))
          throw new ApiError("forbidden", "This agent neither makes nor tests the backups of that source.");
        const retired = await listRetiredKeys(db, [receipt.agent_id]);
        const bundle = await withSession(pool, (session) => readBundle(session, signer, receipt));
        return {
          status: 200,
          body: { receipt: bundle, rotations: retired.map(({ rotation }) => rotation) },
        };
      },
    }),
  ];
}
