import { Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { fileRoute, type Route } from "../../platform/http/route/route.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { LiveHub } from "./live-hub.ts";

/** Tells open pages what changes, as it changes. */
export function liveRoutes({ db }: { db: Database }): Route[] {
  let hub: LiveHub | null = null;
  const hubOf = (logger: Logger): LiveHub => (hub ??= new LiveHub({ db, logger }));
  return [
    fileRoute({
      method: "GET",
      path: "/api/orgs/:orgID/live",
      summary:
        "Server-sent events that name what has changed: `ready`, `change`, `end`; Last-Event-ID resumes",
      action: "sources.read",
      credential: "user",
      params: Type.Object({ orgID: Id("org") }),
      answers: { 200: "text/event-stream" },
      rateLimits: ["default"],
      async handle({ orgId, principal, header, signal, logger }) {
        if (orgId === null)
          throw new ApiError("forbidden", "Live updates exist only within an organisation.");
        const content = await hubOf(logger).watch({
          orgId,
          personId: principal.id,
          credential: principal.credential,
          lastEventId: header("last-event-id"),
          signal,
        });
        return {
          status: 200,
          headers: {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-store, no-transform",
            // Tells proxies not to buffer the stream.
            "x-accel-buffering": "no",
          },
          content,
        };
      },
    }),
  ];
}
