import { Id, SchedulePreview } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { readSchedule } from "./next-times.ts";
import { previewSchedule } from "./preview.ts";

const Fields = Type.Optional(
  Type.String({ maxLength: 100, description: "Five cron fields.", examples: ["30 2 * * *"] }),
);

/** The times of a schedule, without setting it. */
export function scheduleRoutes({ clock }: { clock: Clock }): Route[] {
  const preview = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/schedule-preview",
    summary: "When a schedule would ask for backups and restore tests",
    action: "sources.read",
    params: Type.Object({ orgID: Id("org") }),
    query: Type.Object(
      {
        backup_cron: Fields,
        restore_test_cron: Fields,
        timezone: Type.Optional(Type.String({ maxLength: 64, examples: ["Europe/Berlin"] })),
      },
      { additionalProperties: false },
    ),
    answers: { 200: SchedulePreview },
    rateLimits: ["default"],
    async handle({ query }) {
      return { status: 200, body: previewSchedule(readSchedule(query), clock()) };
    },
  });
  return [preview];
}
