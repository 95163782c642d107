import { Id, LogHead, LogProof, LogProofQuery } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { HeadSigner } from "../../log/head-signer.ts";
import { transactionSession } from "../../log/sql-session.ts";
import { orgReadRoute, type Route } from "../../platform/http/route.ts";
import { headBody } from "./head-body.ts";
import { readLogProof } from "./log-proof.ts";

/** The organisation's log for people and their programs; the same answers as agents get. */
export function logReadingRoutes({ signer }: { signer: HeadSigner }): Route[] {
  const params = Type.Object({ orgID: Id("org") });
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log/head",
      summary: "The newest signed tree head",
      action: "org_log.read",
      params,
      answers: { 200: LogHead },
      rateLimits: ["default"],
      handle: async ({ orgId }, tx) => ({
        status: 200,
        body: await headBody(transactionSession(tx), signer, orgId),
      }),
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log/proof",
      summary: "Inclusion and consistency proofs",
      action: "org_log.read",
      params,
      query: LogProofQuery,
      answers: { 200: LogProof },
      rateLimits: ["default"],
      handle: async ({ orgId, query }, tx) => ({
        status: 200,
        body: await readLogProof(transactionSession(tx), signer, orgId, query),
      }),
    }),
  ];
}
