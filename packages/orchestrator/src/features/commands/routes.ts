import { CommandKind, CommandRecord, CommandStatus, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notFound } from "../../platform/errors/api-error.ts";
import {
  idRange,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { commandRecord } from "./serialize.ts";
import { findCommand, searchCommands } from "./store.ts";

/** Commands for people and their programs. */
export function commandRoutes(): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/commands",
      summary: "List commands",
      action: "commands.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        source_id: Type.Optional(Id("source")),
        agent_id: Type.Optional(Id("agent")),
        kind: Type.Optional(CommandKind),
        status: Type.Optional(CommandStatus),
      }),
      answers: { 200: listOf(CommandRecord) },
      rateLimits: ["default"],
      async handle({ orgId, query }, tx) {
        const page = pageOf("command", query);
        const ids = idRange("command", page, periodOf(query));
        const rows = await searchCommands(tx, orgId, query, ids, page.limit);
        return { status: 200, body: paged(rows, page, commandRecord) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/commands/:commandID",
      summary: "Read one command and its result",
      action: "commands.read",
      params: Type.Object({ commandID: Id("command") }),
      answers: { 200: CommandRecord },
      rateLimits: ["default"],
      async handle({ orgId, params }, tx) {
        const command = await findCommand(tx, orgId, params.commandID);
        if (command === null) throw notFound("command");
        return { status: 200, body: commandRecord(command) };
      },
    }),
  ];
}
