import { LogGenerations, LogGenerationsQuery, LogProofQuery, LogHead, LogProof } from "@attestore/contract";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Database } from "../../platform/database/schema.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { readRoute, type Route } from "../../platform/http/route/route.ts";
import { generationsBody } from "./generations-body.ts";
import { headBody } from "./head-body.ts";
import { readLogProof } from "./log-proof.ts";

/** Calls of an agent about its organisation's log. */
export function logRoutes({ db, signer }: { db: Database; signer: CheckpointSigner }): Route[] {
  return [
    readRoute({
      method: "GET",
      path: "/v1/log/head",
      summary: "The newest signed tree head",
      action: "log.read",
      answers: { 200: LogHead },
      credential: "agent",
      rateLimits: ["default"],
      async handle({ principal }) {
        const body = await readInOrg(db, principal.orgId, (tx) =>
          headBody(transactionSession(tx), signer, principal.orgId),
        );
        return { status: 200, body };
      },
    }),
    readRoute({
      method: "GET",
      path: "/v1/log/generations",
      summary: "How the log's later generations began, and which heads it lost",
      action: "log.read",
      answers: { 200: LogGenerations },
      credential: "agent",
      query: LogGenerationsQuery,
      rateLimits: ["default"],
      async handle({ principal, query }) {
        const body = await readInOrg(db, principal.orgId, (tx) =>
          generationsBody(transactionSession(tx), signer, principal.orgId, query),
        );
        return { status: 200, body };
      },
    }),
    readRoute({
      method: "GET",
      path: "/v1/log/proof",
      summary: "Inclusion and consistency proofs",
      action: "log.read",
      answers: { 200: LogProof },
      errors: ["not_found"],
      credential: "agent",
      query: LogProofQuery,
      rateLimits: ["default"],
      async handle({ principal, query }) {
        const body = await readInOrg(db, principal.orgId, (tx) =>
          readLogProof(transactionSession(tx), signer, principal.orgId, query),
        );
        return { status: 200, body };
      },
    }),
  ];
}
