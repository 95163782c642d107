import { sql } from "kysely";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";
import { findArrived } from "./counts-for-run.ts";
import { endMissedIncidents, hasOpenIncident, listOrgsWithEnded, openIncident } from "./incidents.ts";
import {
  listOrgsWithDone,
  listOverdue,
  markDone,
  markMissed,
  type MissedRun,
  type OverdueSource,
} from "./runs.ts";
import type { SchedulesDeps } from "./settings.ts";

const EVENT = { backup: "backup_missed", restore_test: "restore_test_missed" } as const;

/**
 * Decides which scheduled runs were done in time and which were not. The first missed one gets a
 * log entry and begins an incident. Until something of that kind is done again, later missed ones
 * are recorded and not logged.
 */
export async function noticeMissed(
  deps: SchedulesDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  const { db, logger } = deps;
  await eachOf(await listOrgsWithDone(db), signal, (orgId) =>
    runInOrg(db, orgId, (tx) => markDone(tx, orgId, now)),
  );
  // A run that was done late ends an incident before a later run may begin the next one.
  await eachOf(await listOrgsWithEnded(db), signal, (orgId) =>
    runInOrg(db, orgId, (tx) => endMissedIncidents(tx, orgId, now)),
  );
  await eachOf(listOverdue(db, now), signal, async (source) => {
    const event = await runInOrg(db, source.org_id, (tx) => decide(tx, deps, source, now));
    if (event !== null) logger.warn(event, "a scheduled run did not happen");
  });
}

async function decide(
  tx: DatabaseTransaction,
  deps: SchedulesDeps,
  source: OverdueSource,
  now: Date,
): Promise<object | null> {
  const { org_id: orgId, source_id: sourceId, kind } = source;
  await lockSourceAndLog(tx, { orgId, sourceId });
  const missed = await markMissed(tx, source, now);
  const [first] = missed;
  if (first === undefined || (await hasOpenIncident(tx, { sourceId, kind: EVENT[kind] }))) return null;
  const last = missed.at(-1) ?? first;
  const cause = await causeOf(tx, deps, source, last, now);
  const [appended] = await appendInTransaction(tx, [
    {
      orgId,
      kind: EVENT[kind],
      sourceId,
      commandId: last.command_id ?? undefined,
      actorId: "service",
      occurredAt: first.deadline_at,
      detail: {
        scheduled_at: first.scheduled_at.toISOString(),
        deadline_at: first.deadline_at.toISOString(),
        runs: missed.length,
        ...cause,
      },
    },
  ]);
  if (appended === undefined) throw new Error("the log did not accept an event");
  const { id } = appended.event;
  await openIncident(tx, { id, orgId, kind: EVENT[kind], sourceId, beganAt: first.deadline_at });
  return { event: EVENT[kind], event_id: id, org_id: orgId, source_id: sourceId, ...cause };
}

interface CauseRow {
  agent_id: string;
  agent_status: "active" | "revoked";
  last_seen_at: Date | null;
  command_status: "queued" | "delivered" | "acked" | null;
  outcome: { event_id?: string } | null;
}

/** How far it got, for somebody who looks for the cause. */
async function causeOf(
  tx: DatabaseTransaction,
  { heartbeatInterval_s, silentAfterIntervals }: SchedulesDeps,
  { org_id, source_id, kind }: OverdueSource,
  { command_id, scheduled_at, deadline_at }: MissedRun,
  now: Date,
): Promise<Record<string, string>> {
  const runner =
    kind === "backup" ? sql`sources.agent_id` : sql`coalesce(sources.test_agent_id, sources.agent_id)`;
  const { rows } = await sql<CauseRow>`
    select agents.id as agent_id, agents.status as agent_status, agents.last_seen_at,
      commands.status as command_status, commands.outcome
    from sources join agents on agents.id = ${runner} left join commands on commands.id = ${command_id}
    where sources.id = ${source_id}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("a scheduled run belongs to a source that does not exist");
  const silent_ms = silentAfterIntervals * heartbeatInterval_s * 1000;
  const isSilent = row.last_seen_at === null || now.getTime() - row.last_seen_at.getTime() > silent_ms;
  // As the run is missed, what came in its time had finished before that.
  const inTime = { arrives_from: scheduled_at, arrives_until: deadline_at, finished_from: "-infinity" };
  const came = await findArrived(tx, kind, [{ source_id, ...inTime }], org_id);
  return { agent_id: row.agent_id, reason: reasonOf(row, { isSilent, came: came.size > 0 }) };
}

function reasonOf(
  { agent_status, command_status, outcome }: CauseRow,
  { isSilent, came }: { isSilent: boolean; came: boolean },
): string {
  if (agent_status === "revoked") return "agent_revoked";
  if (outcome?.event_id !== undefined) return "failed";
  if (came) return "result_too_old";
  if (isSilent) return "agent_silent";
  switch (command_status) {
    case null:
      return "service_unavailable";
    case "queued":
      return "not_delivered";
    case "delivered":
      return "not_acknowledged";
    case "acked":
      return "no_result";
  }
}
