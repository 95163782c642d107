import type { CommandKind, IncidentKind, IncidentRecord } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { type Awaited, CLOCK_BEHIND, findArrived } from "./counts-for-run.ts";

export interface Incident {
  id: string;
  org_id: string;
  kind: IncidentKind;
  source_id: string | null;
  agent_id: string | null;
  began_at: Date;
  ended_at: Date | null;
}

const COLUMNS = ["id", "org_id", "kind", "source_id", "agent_id", "began_at", "ended_at"] as const;

export interface IncidentFilter {
  source_id?: string;
  agent_id?: string;
  kind?: IncidentKind;
  status?: "open" | "ended";
}

/** Newest first, one more than `limit`. */
export async function listIncidents(
  db: Database,
  orgId: string,
  filter: IncidentFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<Incident[]> {
  let query = db
    .selectFrom("incidents")
    .select(COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  if (filter.source_id !== undefined) query = query.where("source_id", "=", filter.source_id);
  if (filter.agent_id !== undefined) query = query.where("agent_id", "=", filter.agent_id);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  if (filter.status !== undefined)
    query = query.where("ended_at", filter.status === "open" ? "is" : "is not", null);
  return query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

/** Incidents of a source, and of the agents that back it up and test it. */
export async function openIncidents(
  db: Database,
  { sourceId, agentIds }: { sourceId: string; agentIds: readonly string[] },
): Promise<Incident[]> {
  return db
    .selectFrom("incidents")
    .select(COLUMNS)
    .where("ended_at", "is", null)
    .where((where) => where.or([where("source_id", "=", sourceId), where("agent_id", "in", agentIds)]))
    .orderBy("id", "desc")
    .execute();
}

export function incidentRecord(incident: Incident): IncidentRecord {
  const { id, org_id, kind, source_id, agent_id } = incident;
  return {
    id,
    org_id,
    kind,
    source_id,
    agent_id,
    began_at: incident.began_at.toISOString(),
    ended_at: incident.ended_at?.toISOString() ?? null,
  };
}

export async function hasOpenIncident(
  tx: DatabaseTransaction,
  { sourceId, kind }: { sourceId: string; kind: IncidentKind },
): Promise<boolean> {
  const row = await tx
    .selectFrom("incidents")
    .select("id")
    .where("source_id", "=", sourceId)
    .where("kind", "=", kind)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

export interface NewIncident {
  /** The event that tells about it, appended in the same transaction. */
  id: string;
  orgId: string;
  kind: IncidentKind;
  sourceId?: string;
  agentId?: string;
  beganAt: Date;
}

export async function openIncident(tx: DatabaseTransaction, incident: NewIncident): Promise<void> {
  const { id, orgId, kind, sourceId, agentId, beganAt } = incident;
  await tx
    .insertInto("incidents")
    .values({
      id,
      org_id: orgId,
      kind,
      source_id: sourceId ?? null,
      agent_id: agentId ?? null,
      began_at: beganAt,
    })
    .execute();
}

interface OpenMissed extends Awaited {
  id: string;
  org_id: string;
  /** Nobody waits for the run any longer: the source was removed or is no longer scheduled. */
  is_withdrawn: boolean;
}

interface EndedMissed {
  id: string;
  org_id: string;
  /** When the run came, as PostgreSQL writes it; null if nobody waits for it any longer. */
  done_at: string | null;
}

/**
 * Incidents of missed runs, of one organisation or all, that are over: nobody waits for the run any
 * longer, or it came after all. That is the first backup or test result that finished after the
 * last run was due.
 */
async function listEnded(db: Database, kind: CommandKind, orgId: string | null): Promise<EndedMissed[]> {
  const { rows: open } = await sql<OpenMissed>`
    select incidents.id, incidents.org_id, incidents.source_id,
      sources.removed_at is not null or coalesce(sources.schedule ->> ${`${kind}_cron`}, '') = '' as is_withdrawn,
      (began_at + interval '1 microsecond')::text as arrives_from, 'infinity' as arrives_until,
      (missed.at - ${CLOCK_BEHIND})::text as finished_from
    from incidents join sources on sources.id = incidents.source_id
    cross join lateral (select coalesce(max(scheduled_at), '-infinity') as at from scheduled_runs as run
      where run.source_id = incidents.source_id and run.kind = ${kind} and run.status = 'missed') as missed
    where incidents.kind = ${`${kind}_missed`} and ended_at is null
      ${orgId === null ? sql`` : sql`and incidents.org_id = ${orgId}`}`.execute(db);
  const arrived = await findArrived(db, kind, open, orgId);
  return open.flatMap(({ id, org_id, is_withdrawn }, n) => {
    const done_at = arrived.get(n) ?? null;
    return done_at !== null || is_withdrawn ? [{ id, org_id, done_at }] : [];
  });
}

const KINDS = ["backup", "restore_test"] as const;

/** Organisations with incidents of missed runs that are over. */
export async function listOrgsWithEnded(db: Database): Promise<string[]> {
  const orgIds = new Set<string>();
  for (const kind of KINDS) for (const { org_id } of await listEnded(db, kind, null)) orgIds.add(org_id);
  return [...orgIds];
}

/** Ends them at the time at which the missed run came, or now if nobody waits for it any longer. */
export async function endMissedIncidents(tx: DatabaseTransaction, orgId: string, now: Date): Promise<void> {
  for (const kind of KINDS) {
    const ended = await listEnded(tx, kind, orgId);
    if (ended.length === 0) continue;
    await sql`
      update incidents set ended_at = coalesce(found.done_at, ${now})
      from unnest(${ended.map(({ id }) => id)}::text[], ${ended.map(({ done_at }) => done_at)}::timestamptz[])
        as found (id, done_at)
      where found.id = incidents.id and ended_at is null`.execute(tx);
  }
}

/** Agents that were silent and were heard again, or that were revoked. */
const HEARD_AGAIN = sql`agents.id = incidents.agent_id and incidents.kind = 'agent_silent' and ended_at is null
  and (agents.last_seen_at > began_at or agents.status = 'revoked')`;

/** Organisations with agents whose silence is over. */
export async function listOrgsHeardAgain(db: Database): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`
    select distinct incidents.org_id from incidents join agents on ${HEARD_AGAIN}`.execute(db);
  return rows.map(({ org_id }) => org_id);
}

/** Ends the silence of agents that were heard again, or that were revoked. */
export async function endSilence(tx: DatabaseTransaction, orgId: string, now: Date): Promise<void> {
  await sql`
    update incidents set ended_at = case when agents.last_seen_at > began_at then agents.last_seen_at else ${now} end
    from agents where ${HEARD_AGAIN} and incidents.org_id = ${orgId}`.execute(tx);
}
