import {
  Id,
  LogGenerations,
  LogGenerationsQuery,
  LogHead,
  LogKeys,
  LogProof,
  LogProofQuery,
  WitnessRecord,
} from "@attestore/contract";
import { formatVerifierKey } from "@attestore/proof";
import { Type } from "@fastify/type-provider-typebox";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { logOrigin, logVerifier, timeVerifier } from "../../log/checkpoints/log-keys.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { listOf, listQuery, paged, pageOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { generationsBody } from "./generations-body.ts";
import { countResubmitted } from "./count-resubmitted.ts";
import { headBody } from "./head-body.ts";
import { readLogProof } from "./log-proof.ts";
import { listWitnesses, witnessRecord } from "./witnesses.ts";

/** The organisation's log for people and their programs; the same answers as agents get. */
export function logReadingRoutes({ signer }: { signer: CheckpointSigner }): Route[] {
  const params = Type.Object({ orgID: Id("org") });
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log",
      summary: "The log's name and the keys that sign its heads",
      action: "org_log.read",
      params,
      answers: { 200: LogKeys },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId }, tx) {
        const org = await tx
          .selectFrom("orgs")
          .innerJoin("logs", "logs.org_id", "orgs.id")
          .select(["public_log", "logs.origin", "missing_head_size"])
          .where("id", "=", orgId)
          .executeTakeFirst();
        if (org === undefined) throw notFound("log");
        const { identity } = signer;
        // The key of the first generation, which signs for the later ones too.
        const first = logOrigin(identity.host, orgId);
        return {
          status: 200,
          body: {
            log_id: org.origin,
            verifier_key: formatVerifierKey(logVerifier(identity, first)),
            time_verifier_key: formatVerifierKey(timeVerifier(identity)),
            public_log: org.public_log,
            read_only: org.missing_head_size !== null,
            handed_in_again: await countResubmitted(tx, orgId),
          },
        };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log/witnesses",
      summary: "List the agents that cosigned a head of the log, each with its newest cosigned head",
      action: "org_log.read",
      params,
      query: listQuery({}),
      answers: { 200: listOf(WitnessRecord) },
      rateLimits: ["default"],
      async handle({ orgId, query }, tx) {
        const page = pageOf("agent", query);
        const log = logVerifier(signer.identity, logOrigin(signer.identity.host, orgId));
        const rows = await listWitnesses(tx, orgId, page);
        return { status: 200, body: paged(rows, page, (row) => witnessRecord(row, log)) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log/head",
      summary: "The newest signed tree head",
      action: "org_log.read",
      params,
      answers: { 200: LogHead },
      rateLimits: ["default"],
      // Only hashes: a head does not reveal what is in a leaf, or when it came.
      credential: "session",
      handle: async ({ orgId }, tx) => ({
        status: 200,
        body: await headBody(transactionSession(tx), signer, orgId),
      }),
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/log/generations",
      summary: "How the log's later generations began, and which heads it lost",
      action: "org_log.read",
      params,
      query: LogGenerationsQuery,
      answers: { 200: LogGenerations },
      rateLimits: ["default"],
      handle: async ({ orgId, query }, tx) => ({
        status: 200,
        body: await generationsBody(transactionSession(tx), signer, orgId, query),
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
      // Only hashes: a head does not reveal what is in a leaf, or when it came.
      credential: "session",
      handle: async ({ orgId, query }, tx) => ({
        status: 200,
        body: await readLogProof(transactionSession(tx), signer, orgId, query),
      }),
    }),
  ];
}
