import { MalformedWitness } from "../../log/witnesses/witness.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import {
  type DeliveredCommand,
  type DeliveredConfigRequest,
  HeartbeatRequest,
  HeartbeatResponse,
  MAX_OPEN_CONFIG_REQUESTS,
  type RegisteredSource,
} from "@attestore/contract";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readNewestCheckpoint, signNewest, type SignedCheckpoint } from "../../log/heads/heads.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import { type Route, writeRoute } from "../../platform/http/route/route.ts";
import { recordHeartbeat } from "../agents/record-heartbeat.ts";
import { exchangeCommands, redeliveryDue } from "../commands/deliver-commands.ts";
import { takeConfigRequests } from "../config-requests/store.ts";
import { takeDeclaredSources } from "../sources/declared-sources.ts";
import { Cadence } from "./cadence.ts";
import { gatherFastPath } from "./fast-path.ts";
import { TooOften } from "./too-often.ts";

export interface HeartbeatDeps {
  db: Database;
  signer: CheckpointSigner;
  heartbeatInterval_s: number;
  /** How many missing heartbeats make an agent silent. */
  silentAfterIntervals: number;
  clock: Clock;
  /**
   * Takes what an agent knows of the log and its cosignature over it. Uses connections of its own.
   */
  acceptWitness: (
    agent: AgentPrincipal,
    held: { checkpoint: string; cosignature: string | null },
  ) => Promise<void>;
}

export function heartbeatRoutes({
  db,
  signer,
  heartbeatInterval_s,
  silentAfterIntervals,
  acceptWitness,
  clock,
}: HeartbeatDeps): Route[] {
  const noteOnFastPath = gatherFastPath(db);
  const cadence = new Cadence({ heartbeatInterval_s, silentAfterIntervals });
  const tooOften = new TooOften(heartbeatInterval_s);
  const answer = (
    now: Date,
    head: SignedCheckpoint,
    sources: RegisteredSource[],
    commands: DeliveredCommand[],
    configRequests: DeliveredConfigRequest[] = [],
  ): { status: 200; body: HeartbeatResponse } => ({
    status: 200,
    body: {
      server_time: now.toISOString(),
      next_interval_s: cadence.next(),
      commands,
      log_head: head.checkpoint,
      sources,
      ...(configRequests.length === 0 ? {} : { config_requests: configRequests }),
    },
  });
  const heartbeat = writeRoute({
    method: "POST",
    path: "/v1/heartbeat",
    summary: "Send a heartbeat, and receive the agent's commands",
    action: "heartbeat.send",
    answers: { 200: HeartbeatResponse },
    credential: "agent",
    body: HeartbeatRequest,
    // No hard limit: see recordHeartbeat.
    rateLimits: [],
    async prepare({ body, principal }) {
      const { log_head: checkpoint, cosignature } = body;
      if (checkpoint === undefined) return;
      await acceptWitness(principal, { checkpoint, cosignature: cosignature ?? null }).catch(
        (error: unknown) => {
          if (!(error instanceof MalformedWitness)) throw error;
          throw invalidRequest(error.message, [{ path: `/${error.field}`, message: error.issue }]);
        },
      );
    },
    async routine({ body, principal, logger }) {
      const now = clock();
      const due = redeliveryDue(now, heartbeatInterval_s);
      const found = await noteOnFastPath({ agent: principal, body, now, due });
      if (found === null) return null;
      tooOften.notice(logger, principal.id, found.before, now);
      return answer(now, await signNewest(found, signer), found.sources, []);
    },
    async handle({ body, principal, logger }, tx) {
      const now = clock();
      const before = await recordHeartbeat(tx, principal.id, body, now);
      const sources = await takeDeclaredSources(tx, principal, body.sources);
      const commands = await exchangeCommands(tx, {
        agentId: principal.id,
        acked: body.acks.map(({ command_id }) => command_id),
        now,
        interval_s: heartbeatInterval_s,
      });
      // To an agent that does not allow it, nothing is delivered that was asked while it did.
      const configRequests =
        body.remote_config === true
          ? await takeConfigRequests(tx, principal.id, now, MAX_OPEN_CONFIG_REQUESTS)
          : [];
      // The agent fetches and acknowledges commands as soon as it knows of them.
      if (commands.length === 0 && configRequests.length === 0 && body.acks.length === 0)
        tooOften.notice(logger, principal.id, before, now);
      const head = await readNewestCheckpoint(transactionSession(tx), signer, principal.orgId);
      return answer(now, head, sources, commands, configRequests);
    },
  });
  return [heartbeat];
}
