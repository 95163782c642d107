import { HeartbeatRequest } from "@attestore/contract";
import { type Route, writeRoute } from "../../platform/http/route.ts";
import { recordHeartbeat } from "../agents/record-heartbeat.ts";
import { exchangeCommands } from "../commands/deliver-commands.ts";
import type { LogAccess } from "../log-access.ts";
import { takeDeclaredSources } from "../sources/declared-sources.ts";

export interface HeartbeatDeps {
  log: LogAccess;
  heartbeatInterval_s: number;
}

export function heartbeatRoutes({ log, heartbeatInterval_s }: HeartbeatDeps): Route[] {
  const heartbeat = writeRoute({
    method: "POST",
    path: "/v1/heartbeat",
    action: "heartbeat.send",
    credential: "agent",
    body: HeartbeatRequest,
    // No hard limit: see recordHeartbeat.
    rateLimits: [],
    // Both work with connections of their own, so they come before the transaction takes one.
    async prepare({ body, principal }) {
      const { log_head: checkpoint, cosignature } = body;
      if (checkpoint !== undefined)
        await log.acceptWitness(principal, { checkpoint, cosignature: cosignature ?? null });
      return log.newestCheckpoint(principal.orgId);
    },
    async handle(call, tx, newestCheckpoint) {
      const { body, principal } = call;
      const now = new Date();
      await recordHeartbeat(tx, call, { now, interval_s: heartbeatInterval_s });
      const sources = await takeDeclaredSources(tx, principal, body.sources);
      const commands = await exchangeCommands(tx, {
        agentId: principal.id,
        acked: body.acks.map(({ command_id }) => command_id),
        now,
        interval_s: heartbeatInterval_s,
      });
      return {
        status: 200,
        body: {
          server_time: now.toISOString(),
          next_interval_s: heartbeatInterval_s,
          commands,
          log_head: newestCheckpoint,
          sources,
        },
      };
    },
  });
  return [heartbeat];
}
