import {
  ConfigureSourceRequest,
  Id,
  RegisterSourceRequest,
  SourceDetail,
  SourceRecord,
  TriggerAccepted,
  TriggerRequest,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Clock } from "../../platform/clock.ts";
import { invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import {
  isWithin,
  knownUntil,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import type { Period } from "../../platform/http/route/principal.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { queueCommand } from "../command-queue/queue-command.ts";
import { incidentRecord, openIncidents } from "../schedules/incidents.ts";
import { asOfPeriod } from "../sources/as-of-period.ts";
import { configureSource } from "./configure-source.ts";
import { type ConfiguredSource, findConfigured, listConfigured } from "../sources/configured-source.ts";
import { lockSource } from "../sources/lock-source.ts";
import { sourceRecord, sourceRecords } from "../sources/serialize.ts";
import { readCoverage } from "./read-coverage.ts";
import { registerSource } from "../sources/register-source.ts";
import { removeSource } from "./remove-source.ts";

const inOrg = Type.Object({ orgID: Id("org") });
const ofSource = Type.Object({ orgID: Id("org"), sourceID: Id("source") });

/** Sources for people and their programs. */
export function sourceRoutes({ clock }: { clock: Clock }): Route[] {
  const register = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/sources",
    summary: "Register a source",
    action: "sources.manage",
    credential: "user",
    params: inOrg,
    body: RegisterSourceRequest,
    answers: { 201: SourceRecord },
    errors: ["already_exists", "conflict"],
    rateLimits: ["default"],
    async handle({ params, body }, tx) {
      const now = clock();
      const source = await registerSource(tx, params.orgID, body, now);
      return { status: 201, body: await sourceRecord(tx, source, now) };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources",
    summary: "List sources",
    action: "sources.read",
    params: inOrg,
    query: listQuery({ ...period, agent_id: Type.Optional(Id("agent")) }),
    answers: { 200: listOf(SourceRecord) },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, query, within }, tx) {
      const page = pageOf("source", query);
      const range = { ...page, ...periodOf(query, knownUntil(within)) };
      const rows = await listConfigured(tx, orgId, query, range, page.limit);
      const records = await recordsWithin(
        tx,
        orgId,
        await asOfPeriod(tx, orgId, rows, within),
        within,
        clock(),
      );
      return { status: 200, body: paged(records, page, (record) => record) };
    },
  });

  const detail = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources/:sourceID",
    summary: "Read one source and its open incidents",
    action: "sources.read",
    params: ofSource,
    answers: { 200: SourceDetail },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId, params, within }, tx) {
      const found = await findConfigured(tx, orgId, params.sourceID);
      if (found === null || !isWithin(knownUntil(within), found.created_at)) throw notFound("source");
      const [source = found] = await asOfPeriod(tx, orgId, [found], within);
      const { agent_id, test_agent_id } = source;
      const agentIds = test_agent_id === null ? [agent_id] : [agent_id, test_agent_id];
      const open = await openIncidents(tx, { sourceId: source.id, agentIds });
      const incidents = open.filter(({ began_at }) => isWithin(within, began_at));
      const [record] = await recordsWithin(tx, orgId, [source], within, clock());
      if (record === undefined) throw notFound("source");
      return {
        status: 200,
        body: {
          ...record,
          incidents: incidents.map((incident) => incidentRecord(incident)),
          ...(within.to === null ? { coverage: await readCoverage(tx, source.id, clock()) } : {}),
        },
      };
    },
  });

  const configure = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/sources/:sourceID/configure",
    summary: "Set a source's schedule, retention, objectives, name and agents",
    action: "sources.manage",
    credential: "user",
    params: ofSource,
    body: ConfigureSourceRequest,
    answers: { 200: SourceRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, body, principal }, tx) {
      const { orgID: orgId, sourceID: sourceId } = params;
      const now = clock();
      const source = await configureSource(tx, { orgId, sourceId, actorId: principal.id }, body, now);
      return { status: 200, body: await sourceRecord(tx, source, now) };
    },
  });

  const remove = writeRoute({
    method: "DELETE",
    path: "/api/orgs/:orgID/sources/:sourceID",
    summary: "Remove a source; its backups and receipts stay",
    action: "sources.manage",
    credential: "user",
    params: ofSource,
    answers: { 200: SourceRecord },
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const { orgID: orgId, sourceID: sourceId } = params;
      const now = clock();
      const source = await removeSource(tx, { orgId, sourceId, actorId: principal.id }, now);
      return { status: 200, body: await sourceRecord(tx, source, now) };
    },
  });

  const trigger = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/sources/:sourceID/trigger",
    summary: "Ask for a backup or a restore test now",
    action: "sources.trigger",
    credential: "user",
    params: ofSource,
    body: TriggerRequest,
    answers: { 202: TriggerAccepted },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, body, principal }, tx) {
      const { kind, backup_id: backupId = null } = body;
      if (kind === "backup" && backupId !== null)
        throw invalidRequest("Only a restore test can name a backup.", [
          { path: "/backup_id", message: "applies only to the kind restore_test" },
        ]);
      await lockSource(tx, params.sourceID);
      const source = await findConfigured(tx, params.orgID, params.sourceID);
      if (source === null) throw notFound("source");
      const queued = await queueCommand(tx, {
        source,
        kind,
        backupId,
        issuedBy: principal.id,
        now: clock(),
      });
      return { status: 202, body: { command_id: queued.commandId } };
    },
  });

  return [register, list, detail, configure, remove, trigger];
}

/** For a period that is over, the records say what was proven at its end. */
function recordsWithin(
  tx: DatabaseTransaction,
  orgId: string,
  sources: readonly ConfiguredSource[],
  { to }: Period,
  now: Date,
): Promise<SourceRecord[]> {
  return to === null || to > now
    ? sourceRecords(tx, orgId, sources, now)
    : sourceRecords(tx, orgId, sources, to, to);
}
