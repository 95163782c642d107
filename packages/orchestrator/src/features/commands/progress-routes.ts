import { Id, ProgressAccepted, ProgressReport } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import { type Route, writeRoute } from "../../platform/http/route/route.ts";
import { setProgress } from "./store.ts";

/**
 * Frequent reports are for commands that a person asked for and watches. A fleet's nightly runs
 * must not report all the time.
 */
const NEXT_S = { watched: 2, scheduled: 60 };

/** Takes how far an agent is with a command. */
export function commandProgressRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  const record = async (
    tx: DatabaseTransaction,
    { id: agentId }: AgentPrincipal,
    commandId: string,
    report: ProgressReport,
  ): Promise<{ status: 200; body: ProgressAccepted }> => {
    const progress = { ...report, at: clock().toISOString() };
    const issuedBy = await setProgress(tx, { agentId, commandId, progress });
    if (issuedBy === null) throw notFound("command");
    return {
      status: 200,
      body: { next_s: issuedBy === "schedule" ? NEXT_S.scheduled : NEXT_S.watched },
    };
  };
  return [
    writeRoute({
      method: "POST",
      path: "/v1/commands/:id/progress",
      summary: "Report how far the agent is with a command",
      action: "commands.report",
      credential: "agent",
      params: Type.Object({ id: Id("command") }),
      body: ProgressReport,
      answers: { 200: ProgressAccepted },
      rateLimits: ["command_progress"],
      routine: ({ body, params, principal }) =>
        runInOrg(db, principal.orgId, (tx) => record(tx, principal, params.id, body)),
      handle: ({ body, params, principal }, tx) => record(tx, principal, params.id, body),
    }),
  ];
}
