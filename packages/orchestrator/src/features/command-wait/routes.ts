import { CommandNotice, COMMAND_WAIT_S } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { readRoute, type Route } from "../../platform/http/route/route.ts";
import type { WaitingAgents } from "./waiting-agents.ts";

export interface CommandWaitDeps {
  waiting: WaitingAgents;
}

/** Tells an agent that a heartbeat is worthwhile before its next one is due. */
export function commandWaitRoutes({ waiting }: CommandWaitDeps): Route[] {
  return [
    readRoute({
      method: "GET",
      path: "/v1/commands",
      summary: "Wait until there are commands for the agent, which its next heartbeat gets",
      action: "commands.wait",
      credential: "agent",
      query: Type.Object(
        {
          wait_s: Type.Optional(
            Type.String({
              pattern: "^([1-4]?\\d|50)$",
              description: `How long to hold the request: 0 to ${COMMAND_WAIT_S} seconds; default: 0.`,
              examples: ["0"],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      answers: { 200: CommandNotice },
      rateLimits: ["command_wait"],
      unrecorded: true,
      async handle({ principal, query, signal }) {
        const wait = { agentId: principal.id, wait_s: Number(query.wait_s ?? 0), signal };
        return { status: 200, body: { queued: await waiting.wait(wait) } };
      },
    }),
  ];
}
