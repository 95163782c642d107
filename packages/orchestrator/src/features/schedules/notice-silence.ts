import { sql } from "kysely";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import { lockLogs } from "../../log/append/locked-log.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { endSilence, listOrgsHeardAgain, openIncident } from "./incidents.ts";
import type { SchedulesDeps } from "./settings.ts";

interface SilentAgent {
  id: string;
  org_id: string;
  name: string;
  hostname: string;
  last_seen_at: Date | null;
  heard_at: Date;
}

/**
 * Logs once that an agent has gone silent, and records when it is heard again. Silence counts only
 * while the service could hear: after a pause of the whole service, every agent gets its full time
 * again.
 */
export async function noticeSilence(
  deps: SchedulesDeps,
  { now, runningSince, signal }: JobContext,
): Promise<void> {
  const { db, logger, heartbeatInterval_s, silentAfterIntervals } = deps;
  const limit_ms = heartbeatInterval_s * silentAfterIntervals * 1000;
  await eachOf(await listOrgsHeardAgain(db), signal, (orgId) =>
    runInOrg(db, orgId, (tx) => endSilence(tx, orgId, now)),
  );
  const before = new Date(now.getTime() - limit_ms);
  if (runningSince >= before) return;
  await eachOf(await listSilent(db, before), signal, async ({ org_id }) => {
    const silent = await runInOrg(db, org_id, (tx) => log(tx, org_id, before, limit_ms));
    for (const { id, last_seen_at } of silent)
      logger.warn({ agent_id: id, org_id, last_seen_at }, "an agent is silent");
  });
}

async function listSilent(db: Database, before: Date): Promise<{ org_id: string }[]> {
  const { rows } = await sql<{ org_id: string }>`
    select distinct org_id from agents where ${isSilent(before)} order by org_id`.execute(db);
  return rows;
}

const isSilent = (before: Date) => sql`status = 'active' and coalesce(last_seen_at, created_at) < ${before}
  and not exists (select from incidents where incidents.agent_id = agents.id and ended_at is null)`;

async function log(
  tx: DatabaseTransaction,
  orgId: string,
  before: Date,
  limit_ms: number,
): Promise<SilentAgent[]> {
  // The second caller waits here, and then finds the incident.
  await lockLogs(transactionSession(tx), new Set([orgId]));
  const { rows } = await sql<SilentAgent>`
    select id, org_id, name, hostname, last_seen_at, coalesce(last_seen_at, created_at) as heard_at
    from agents where org_id = ${orgId} and ${isSilent(before)} order by id`.execute(tx);
  if (rows.length === 0) return rows;
  const appended = await appendInTransaction(
    tx,
    rows.map((agent) => ({
      orgId,
      kind: "agent_silent",
      actorId: "service",
      occurredAt: new Date(agent.heard_at.getTime() + limit_ms),
      detail: {
        agent_id: agent.id,
        name: agent.name,
        hostname: agent.hostname,
        last_seen_at: agent.last_seen_at?.toISOString() ?? null,
      },
    })),
  );
  for (const [index, { event }] of appended.entries()) {
    const agent = rows[index];
    if (agent === undefined) throw new Error("the log accepted a different number of events");
    const beganAt = event.occurredAt;
    await openIncident(tx, { id: event.id, orgId, kind: "agent_silent", agentId: agent.id, beganAt });
  }
  return rows;
}
