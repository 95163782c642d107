import { EventRecord, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notFound } from "../../platform/errors/api-error.ts";
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
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { findEvent, listEvents } from "./queries.ts";
import { eventRecord } from "./serialize.ts";

/** The log's events for people and their programs. */
export function eventReadingRoutes(): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/events",
      summary: "List the events of the transparency log",
      action: "events.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        source_id: Type.Optional(Id("source")),
        agent_id: Type.Optional(Id("agent")),
        kind: Type.Optional(Type.String({ pattern: "^[a-z_]{1,64}$", examples: ["backup_failed"] })),
      }),
      answers: { 200: listOf(EventRecord) },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, query, within }, tx) {
        const page = pageOf("event", query);
        const ids = idRange("event", page, periodOf(query, within));
        const { rows, hasMore } = await listEvents(tx, orgId, query, ids, page.limit);
        return { status: 200, body: paged(rows, page, eventRecord, hasMore) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/events/:eventID",
      summary: "Read one event",
      action: "events.read",
      params: Type.Object({ eventID: Id("event") }),
      answers: { 200: EventRecord },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, params, within }, tx) {
        const event = await findEvent(tx, orgId, params.eventID);
        if (event === null || !isWithin(within, event.created_at)) throw notFound("event");
        return { status: 200, body: eventRecord(event) };
      },
    }),
  ];
}
