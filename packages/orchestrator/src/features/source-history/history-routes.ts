import {
  DriftIndicator,
  Id,
  IncidentKind,
  IncidentRecord,
  RestoreTestRecord,
  TimelineItem,
  TimelineTopic,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import {
  idRange,
  isWithin,
  knownUntil,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route } from "../../platform/http/route/route.ts";
import { readDrift } from "../drift/read-drift.ts";
import { incidentRecord, listIncidents } from "../schedules/incidents.ts";
import { findConfigured } from "../sources/configured-source.ts";
import { readRestoreTests } from "./restore-tests.ts";
import { readTimeline } from "./timeline.ts";

const ofSource = Type.Object({ orgID: Id("org"), sourceID: Id("source") });

export function sourceHistoryRoutes({ envelopes }: { envelopes: ArchivedEnvelopes }): Route[] {
  const timeline = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources/:sourceID/timeline",
    summary: "Everything recorded about a source: events, receipts, backups and commands, newest first",
    action: "sources.read",
    params: ofSource,
    query: listQuery({ ...period, topic: Type.Optional(TimelineTopic) }),
    answers: { 200: listOf(TimelineItem) },
    rateLimits: ["default"],
    async handle({ orgId, params, query }, tx) {
      const source = await findConfigured(tx, orgId, params.sourceID);
      if (source === null) throw notFound("source");
      const of = { orgId, sourceId: source.id };
      return { status: 200, body: await readTimeline(tx, of, { ...query, ...periodOf(query) }) };
    },
  });

  const drift = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources/:sourceID/drift",
    summary:
      "What changed between a source's backups and in its restore tests; a page is that of `limit` backups",
    action: "sources.read",
    params: ofSource,
    query: listQuery({}),
    answers: { 200: listOf(DriftIndicator) },
    rateLimits: ["default"],
    async handle({ orgId, params, query }, tx) {
      const source = await findConfigured(tx, orgId, params.sourceID);
      if (source === null) throw notFound("source");
      const page = pageOf("backup", query);
      return { status: 200, body: await readDrift(tx, envelopes, source.id, page) };
    },
  });

  const restoreTests = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources/:sourceID/restore-tests",
    summary: "A source's restore tests with their phases and checks from the receipts, newest first",
    action: "sources.read",
    params: ofSource,
    query: listQuery(period),
    answers: { 200: listOf(RestoreTestRecord) },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, params, query, within }, tx) {
      const source = await findConfigured(tx, orgId, params.sourceID);
      if (source === null || !isWithin(knownUntil(within), source.created_at)) throw notFound("source");
      const page = pageOf("receipt", query);
      const { rows, hasMore } = await readRestoreTests(
        tx,
        envelopes,
        source.id,
        idRange("receipt", page, periodOf(query, within)),
        page.limit,
      );
      return { status: 200, body: paged(rows, page, ({ test }) => test, hasMore) };
    },
  });

  const incidents = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/incidents",
    summary: "List incidents: what was overdue, and whether it has happened since",
    action: "events.read",
    params: Type.Object({ orgID: Id("org") }),
    query: listQuery({
      ...period,
      source_id: Type.Optional(Id("source")),
      agent_id: Type.Optional(Id("agent")),
      kind: Type.Optional(IncidentKind),
      status: Type.Optional(Type.Union([Type.Literal("open"), Type.Literal("ended")])),
    }),
    answers: { 200: listOf(IncidentRecord) },
    rateLimits: ["default"],
    async handle({ orgId, query }, tx) {
      const page = pageOf("event", query);
      const ids = idRange("event", page, periodOf(query));
      const rows = await listIncidents(tx, orgId, query, ids, page.limit);
      return { status: 200, body: paged(rows, page, incidentRecord) };
    },
  });

  return [timeline, drift, restoreTests, incidents];
}
