import { HeartbeatRequest, HeartbeatResponse } from "@attestore/contract";
import type { HeadSigner } from "../../log/head-signer.ts";
import { readNewestHead } from "../../log/heads.ts";
import { transactionSession } from "../../log/sql-session.ts";
import type { Clock } from "../../platform/clock.ts";
import type { AgentPrincipal } from "../../platform/http/principal.ts";
import { type Route, writeRoute } from "../../platform/http/route.ts";
import { recordHeartbeat } from "../agents/record-heartbeat.ts";
import { exchangeCommands } from "../commands/deliver-commands.ts";
import { takeDeclaredSources } from "../sources/declared-sources.ts";
import { TooOften } from "./too-often.ts";

export interface HeartbeatDeps {
  signer: HeadSigner;
  heartbeatInterval_s: number;
  clock: Clock;
  /** Takes what an agent holds of the log and its cosignature over it. Has connections of its own. */
  acceptWitness: (
    agent: AgentPrincipal,
    held: { checkpoint: string; cosignature: string | null },
  ) => Promise<void>;
}

export function heartbeatRoutes({
  signer,
  heartbeatInterval_s,
  acceptWitness,
  clock,
}: HeartbeatDeps): Route[] {
  const tooOften = new TooOften(heartbeatInterval_s);
  const heartbeat = writeRoute({
    method: "POST",
    path: "/v1/heartbeat",
    summary: "Say that the agent lives, and receive its commands",
    action: "heartbeat.send",
    answers: { 200: HeartbeatResponse },
    credential: "agent",
    body: HeartbeatRequest,
    // No hard limit: see recordHeartbeat.
    rateLimits: [],
    async prepare({ body, principal }) {
      const { log_head: checkpoint, cosignature } = body;
      if (checkpoint === undefined) return;
      await acceptWitness(principal, { checkpoint, cosignature: cosignature ?? null });
    },
    async handle(call, tx) {
      const { body, principal } = call;
      const now = clock();
      const { before, isSame } = await recordHeartbeat(tx, principal.id, body, now);
      tooOften.notice(call.logger, principal.id, before, now);
      const { sources, hasChanged } = await takeDeclaredSources(tx, principal, body.sources);
      const commands = await exchangeCommands(tx, {
        agentId: principal.id,
        acked: body.acks.map(({ command_id }) => command_id),
        now,
        interval_s: heartbeatInterval_s,
      });
      const head = await readNewestHead(transactionSession(tx), signer, principal.orgId);
      return {
        status: 200,
        isRoutine: isSame && !hasChanged && body.acks.length === 0 && commands.length === 0,
        body: {
          server_time: now.toISOString(),
          next_interval_s: heartbeatInterval_s,
          commands,
          log_head: head.checkpoint,
          sources,
        },
      };
    },
  });
  return [heartbeat];
}
