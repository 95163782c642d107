import { Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { fileRoute, type Route } from "../../platform/http/route/route.ts";
import type { Places } from "../../platform/workers/places.ts";
import { packFiles, packHeader } from "./pack-files.ts";
import { packStream } from "./pack-stream.ts";
import { PackConcurrency } from "./pack-concurrency.ts";
import { evidencePeriod, evidenceQuery } from "./period.ts";
import { readSnapshot } from "./snapshot.ts";

/** Everything that an organisation can show of a period, for auditors. */
export function evidenceRoutes(deps: {
  db: Database;
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
  clock: Clock;
  places: Places;
}): Route[] {
  const { db, signer, envelopes, clock } = deps;
  const turns = new PackConcurrency(deps.places);
  return [
    fileRoute({
      method: "GET",
      path: "/api/orgs/:orgID/evidence",
      summary: "Download the evidence pack of a period, a ZIP that attestore-verify checks offline",
      action: "evidence.read",
      credential: "session",
      params: Type.Object({ orgID: Id("org") }),
      query: evidenceQuery,
      answers: { 200: "application/zip" },
      rateLimits: ["default", "evidence"],
      async handle({ orgId, query, within }) {
        if (orgId === null) throw notFound("organisation");
        const now = clock();
        const period = evidencePeriod(query, now, within);
        const content = await turns.take(orgId, async () => {
          const snapshot = await readInOrg(db, orgId, (tx) =>
            readSnapshot(tx, signer, { orgId, period, now }),
          );
          return packStream(packFiles({ db, signer, envelopes }, snapshot), packHeader(snapshot), signer);
        });
        const day = (moment: Date): string => moment.toISOString().slice(0, 10);
        const name = `evidence-${orgId}-${day(period.from)}-${day(period.to)}.zip`;
        return {
          status: 200,
          headers: {
            "content-type": "application/zip",
            "content-disposition": `attachment; filename="${name}"`,
            "cache-control": "no-store",
          },
          content,
        };
      },
    }),
  ];
}
