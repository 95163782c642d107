import {
  Id,
  ReceiptBundle,
  ReceiptDetail,
  ReceiptKind,
  ReceiptRecord,
  ReceiptResult,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Database } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import type { FileAnswer } from "../../platform/http/route/file-answer.ts";
import {
  idRange,
  isWithin,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { fileRoute, orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { readBundle, sigstoreBundle, tlogProofFile } from "./bundle.ts";
import { findReceipt, listReceipts } from "./queries.ts";
import { receiptDetail, receiptRecord } from "./serialize.ts";

const params = Type.Object({ receiptID: Id("receipt") });

export interface ReceiptReadingDeps {
  db: Database;
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
}

/** Receipts for people and their programs. */
export function receiptReadingRoutes({ db, signer, envelopes }: ReceiptReadingDeps): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/receipts",
      summary: "List receipts",
      action: "receipts.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        source_id: Type.Optional(Id("source")),
        agent_id: Type.Optional(Id("agent")),
        backup_id: Type.Optional(Id("backup")),
        kind: Type.Optional(ReceiptKind),
        result: Type.Optional(ReceiptResult),
      }),
      answers: { 200: listOf(ReceiptRecord) },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, query, within }, tx) {
        const page = pageOf("receipt", query);
        const ids = idRange("receipt", page, periodOf(query, within));
        const rows = await listReceipts(tx, orgId, query, ids, page.limit);
        return { status: 200, body: paged(rows, page, receiptRecord) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/receipts/:receiptID",
      summary: "Read one receipt with its envelope",
      action: "receipts.read",
      params,
      answers: { 200: ReceiptDetail },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, params: { receiptID }, within }, tx) {
        const receipt = await findReceipt(tx, envelopes, orgId, receiptID);
        if (receipt === null || !isWithin(within, receipt.created_at)) throw notFound("receipt");
        return { status: 200, body: receiptDetail(receipt) };
      },
    }),
    fileRoute({
      method: "GET",
      path: "/api/receipts/:receiptID/bundle",
      summary: "Download a receipt with its proof, for attestore-verify and other tools",
      action: "receipts.read",
      credential: "session",
      params,
      query: Type.Object(
        { format: Type.Optional(Type.Enum(["sigstore", "tlog-proof"])) },
        { additionalProperties: false },
      ),
      answers: { 200: ReceiptBundle },
      rateLimits: ["default"],
      async handle({ orgId, params: { receiptID }, query: { format }, within }) {
        if (orgId === null) throw notFound("receipt");
        const bundle = await readInOrg(db, orgId, async (tx) => {
          const receipt = await findReceipt(tx, envelopes, orgId, receiptID);
          if (receipt === null || !isWithin(within, receipt.created_at)) throw notFound("receipt");
          return readBundle(transactionSession(tx), signer, receipt);
        });
        return bundleFile(receiptID, bundle, format);
      },
    }),
  ];
}

function bundleFile(
  receiptId: string,
  bundle: ReceiptBundle,
  format: "sigstore" | "tlog-proof" | undefined,
): FileAnswer {
  switch (format) {
    case undefined:
      return file(`${receiptId}.json`, "application/json; charset=utf-8", JSON.stringify(bundle));
    case "sigstore":
      return file(
        `${receiptId}.sigstore.json`,
        "application/vnd.dev.sigstore.bundle.v0.3+json",
        JSON.stringify(sigstoreBundle(bundle)),
      );
    case "tlog-proof":
      return file(`${receiptId}.tlog-proof`, "text/plain; charset=utf-8", tlogProofFile(bundle));
  }
}

function file(name: string, type: string, content: string): FileAnswer {
  return {
    status: 200,
    headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"` },
    content: Buffer.from(content),
  };
}
