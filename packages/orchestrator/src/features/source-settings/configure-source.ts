import type { ConfigureSourceRequest, Schedule } from "@attestore/contract";
import { canonicalJson } from "@attestore/proof";
import type { Updateable } from "kysely";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction, SourcesTable } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { endOpenCommands, moveQueuedCommands } from "../commands/move-commands.ts";
import { loggedActor } from "../logged-actor.ts";
import { cronOf, nextOf, readSchedule } from "../schedules/next-times.ts";
import { requireActiveAgent } from "../sources/active-agent.ts";
import { type ConfiguredSource, findConfigured, updateSource } from "../sources/configured-source.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";

/**
 * Changes only the given settings. If a source moves to another agent, its undelivered commands
 * move too. Commands that the former agent got and did not acknowledge end, and are not given to
 * the new one. Throws `not_found`, `conflict` for a revoked agent, `invalid_request`.
 */
export async function configureSource(
  tx: DatabaseTransaction,
  { orgId, sourceId, actorId }: { orgId: string; sourceId: string; actorId: string },
  request: ConfigureSourceRequest,
  now: Date,
): Promise<ConfiguredSource> {
  await lockSourceAndLog(tx, { orgId, sourceId });
  const source = await findConfigured(tx, orgId, sourceId);
  if (source === null) throw notFound("source");
  const changes = await changesOf(tx, source, request, now);
  if (Object.keys(changes).length === 0) return source;
  const configured = await updateSource(tx, sourceId, changes);
  for (const kind of ["backup", "restore_test"] as const) {
    const [before, after] = [runnerOf(source, kind), runnerOf(configured, kind)];
    if (before === after) continue;
    await moveQueuedCommands(tx, { sourceId, kind, from: before, to: after });
    await endOpenCommands(tx, { sourceId, kind, agentId: before, at: now });
  }
  await logChange(tx, source, configured, { actorId, now });
  return configured;
}

const LOGGED = ["name", "agent_id", "test_agent_id", "schedule", "retention", "objectives"] as const;

/**
 * So the log shows which settings were in force when: `before` has the changed ones, `after`
 * everything in force from now on.
 */
async function logChange(
  tx: DatabaseTransaction,
  before: ConfiguredSource,
  after: ConfiguredSource,
  { actorId, now }: { actorId: string; now: Date },
): Promise<void> {
  const changed = LOGGED.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]));
  if (changed.length === 0) return;
  const of = (source: ConfiguredSource, names: readonly (typeof LOGGED)[number][]) =>
    Object.fromEntries(names.map((name) => [name, source[name]]));
  await appendInTransaction(tx, [
    {
      orgId: before.org_id,
      kind: "source_configured",
      sourceId: before.id,
      ...loggedActor(actorId, { slug: before.slug, before: of(before, changed), after: of(after, LOGGED) }),
      occurredAt: now,
    },
  ]);
}

async function changesOf(
  tx: DatabaseTransaction,
  source: ConfiguredSource,
  request: ConfigureSourceRequest,
  now: Date,
): Promise<Updateable<SourcesTable>> {
  const { name, agent_id, test_agent_id, schedule, retention, objectives } = request;
  const changes: Updateable<SourcesTable> = {};
  if (name !== undefined) changes.name = name;
  for (const [column, agentId] of Object.entries({ agent_id, test_agent_id })) {
    if (agentId === undefined) continue;
    if (agentId !== null) await requireActiveAgent(tx, source.org_id, agentId);
    Object.assign(changes, { [column]: agentId });
  }
  if (schedule !== undefined)
    Object.assign(changes, rescheduled(source, schedule === null ? null : readSchedule(schedule), now));
  if (retention !== undefined) changes.retention = retention === null ? null : JSON.stringify(retention);
  if (objectives !== undefined) changes.objectives = objectives === null ? null : JSON.stringify(objectives);
  return changes;
}

function rescheduled(
  source: ConfiguredSource,
  schedule: Schedule | null,
  now: Date,
): Updateable<SourcesTable> {
  const next = (kind: "backup" | "restore_test", known: Date | null): Date | null => {
    const isSame =
      cronOf(schedule, kind) === cronOf(source.schedule, kind) &&
      schedule?.timezone === source.schedule?.timezone;
    // A time that is due and not yet asked for stays due.
    return isSame ? known : nextOf(schedule, kind, now);
  };
  return {
    schedule: schedule === null ? null : JSON.stringify(schedule),
    next_backup_at: next("backup", source.next_backup_at),
    next_restore_test_at: next("restore_test", source.next_restore_test_at),
  };
}

function runnerOf(source: ConfiguredSource, kind: "backup" | "restore_test"): string {
  return kind === "backup" ? source.agent_id : (source.test_agent_id ?? source.agent_id);
}
