import { BackupRecord, Id, type Retention, RetentionPreview, SourceRecord } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Clock } from "../../platform/clock.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { listQuery, paged, pageOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { timeZoneOf } from "../schedules/next-times.ts";
import { findConfigured } from "../sources/configured-source.ts";
import { backupRecord } from "../backups/serialize.ts";
import { sourceRecord } from "../sources/serialize.ts";
import { readHold } from "./hold-store.ts";
import { keepBackup, releaseBackup } from "./keep-backup.ts";
import { planRetention } from "./plan.ts";
import { resumeRetention } from "./resume-retention.ts";
import { listAvailable, listNeeded } from "./store.ts";

const Keep = Type.Optional(
  Type.String({
    pattern: "^(0|[1-9]\\d{0,4}|100000)$",
    examples: ["7"],
    description: "Rules to try; if any is given, the source's own rules are ignored.",
  }),
);
const RULES = ["keep_last", "keep_days", "keep_daily", "keep_weekly", "keep_monthly", "keep_yearly"] as const;

/** Shows what the retention rules would do, without doing it, and lets people decide about it. */
export function retentionRoutes({ clock }: { clock: Clock }): Route[] {
  const preview = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/sources/:sourceID/retention-preview",
    summary: "Preview which backups the retention rules keep and why, and which they remove",
    action: "sources.read",
    params: Type.Object({ orgID: Id("org"), sourceID: Id("source") }),
    query: listQuery({
      backup_id: Type.Optional(Id("backup")),
      keep_last: Keep,
      keep_days: Keep,
      keep_daily: Keep,
      keep_weekly: Keep,
      keep_monthly: Keep,
      keep_yearly: Keep,
    }),
    answers: { 200: RetentionPreview },
    rateLimits: ["default"],
    async handle({ orgId, params, query }, tx) {
      const source = await findConfigured(tx, orgId, params.sourceID);
      if (source === null) throw notFound("source");
      const page = pageOf("backup", query);
      const retention = rulesIn(query) ?? source.retention;
      const zone = timeZoneOf(source.schedule);
      const decisions = planRetention({
        backups: await listAvailable(tx, source.id),
        rules: retention,
        zone,
        needed: await listNeeded(tx, source.id, clock()),
      });
      const { held } = await readHold(tx, source.id);
      const going = decisions.filter(({ reasons }) => reasons.length === 0);
      const after = decisions
        .filter(({ backup }) => page.before === null || backup.id < page.before)
        .filter(({ backup }) => query.backup_id === undefined || backup.id === query.backup_id)
        .map((decision) => ({ id: decision.backup.id, ...decision }));
      const body: RetentionPreview = {
        retention,
        timezone: zone,
        keep_count: decisions.length - going.length,
        remove_count: going.length,
        remove_bytes: going.reduce((sum, { backup }) => sum + backup.sizeBytes, 0),
        held: held === null ? null : { since: held.since.toISOString(), hold: held.hold },
        ...paged(after, page, ({ backup, reasons }) => ({
          backup_id: backup.id,
          created_at: backup.madeAt.toISOString(),
          size_bytes: backup.sizeBytes,
          proven_at: backup.provenAt?.toISOString() ?? null,
          keep: reasons.length > 0,
          reasons,
          expires_at: backup.expiresAt?.toISOString() ?? null,
        })),
      };
      return { status: 200, body };
    },
  });
  const ofBackup = (verb: "keep" | "release", summary: string, work: typeof keepBackup): Route =>
    writeRoute({
      method: "POST",
      path: `/api/orgs/:orgID/backups/:backupID/${verb}`,
      summary,
      action: "backups.keep",
      credential: "user",
      params: Type.Object({ orgID: Id("org"), backupID: Id("backup") }),
      answers: { 200: BackupRecord },
      errors: ["conflict"],
      rateLimits: ["default"],
      async handle({ params, principal }, tx) {
        const asked = { orgId: params.orgID, backupId: params.backupID, actorId: principal.id };
        return { status: 200, body: backupRecord(await work(tx, asked, clock())) };
      },
    });
  const resume = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/sources/:sourceID/retention-resume",
    summary: "Resume a source's retention after a sudden change in its backups stopped it",
    action: "sources.manage",
    credential: "user",
    params: Type.Object({ orgID: Id("org"), sourceID: Id("source") }),
    answers: { 200: SourceRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const { orgID: orgId, sourceID: sourceId } = params;
      const now = clock();
      const source = await resumeRetention(tx, { orgId, sourceId, actorId: principal.id }, now);
      return { status: 200, body: await sourceRecord(tx, source, now) };
    },
  });
  return [
    preview,
    ofBackup("keep", "Keep a backup, regardless of the retention rules", keepBackup),
    ofBackup(
      "release",
      "Release a kept backup, so that the retention rules apply to it again",
      releaseBackup,
    ),
    resume,
  ];
}

function rulesIn(query: Partial<Record<(typeof RULES)[number], string>>): Retention | null {
  const given = RULES.flatMap((rule) => {
    const count = query[rule];
    return count === undefined ? [] : [[rule, Number(count)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}
