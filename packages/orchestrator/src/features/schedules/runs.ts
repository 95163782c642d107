import type { CommandKind } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { type Awaited, CLOCK_BEHIND, findArrived } from "./counts-for-run.ts";

const KINDS = ["backup", "restore_test"] as const;

const PAGE = 200;

/** How many runs are looked up at once. */
const LOOKED_UP = 500;

/** A run that waits for a result which had not waited on its host since before. */
interface WaitingRun extends Awaited {
  org_id: string;
  scheduled_at: string;
}

const WAITING = sql`
  select org_id, source_id, scheduled_at::text as scheduled_at, scheduled_at::text as arrives_from,
    deadline_at::text as arrives_until, (scheduled_at - ${CLOCK_BEHIND})::text as finished_from
  from scheduled_runs where status = 'waiting'`;

/**
 * The waiting runs of this kind, some at a time: there may be one for each source of the service.
 * What changes while it runs does not show.
 */
async function* waitingRuns(
  tx: DatabaseTransaction,
  kind: CommandKind,
  orgId: string | null,
): AsyncGenerator<WaitingRun[], void, undefined> {
  const inOrg = orgId === null ? sql`` : sql`and org_id = ${orgId}`;
  await sql`declare waiting_runs no scroll cursor for ${WAITING} and kind = ${kind} ${inOrg}`.execute(tx);
  for (;;) {
    const { rows } = await sql<WaitingRun>`fetch ${sql.lit(LOOKED_UP)} from waiting_runs`.execute(tx);
    if (rows.length > 0) yield rows;
    if (rows.length < LOOKED_UP) break;
  }
  await sql`close waiting_runs`.execute(tx);
}

/**
 * Organisations with waiting runs that were done in time. Backups are with the runs, so PostgreSQL
 * looks for them; what waits for a restore test is read, and looked up in the receipts.
 */
export async function listOrgsWithDone(db: Database): Promise<string[]> {
  const { rows: backups } = await sql<{ org_id: string }>`
    select distinct org_id from scheduled_runs where status = 'waiting' and kind = 'backup'
      and exists (select from backups where backups.source_id = scheduled_runs.source_id
        and backups.created_at >= scheduled_at and backups.created_at <= deadline_at
        and backups.made_at >= scheduled_at - ${CLOCK_BEHIND})`.execute(db);
  const orgIds = new Set(backups.map(({ org_id }) => org_id));
  await db.transaction().execute(async (tx) => {
    for await (const runs of waitingRuns(tx, "restore_test", null))
      for (const n of (await findArrived(tx, "restore_test", runs, null)).keys())
        orgIds.add(runs[n]?.org_id ?? "");
  });
  return [...orgIds];
}

/** Ends the waiting of an organisation's runs that were done in time. */
export async function markDone(tx: DatabaseTransaction, orgId: string, now: Date): Promise<void> {
  for (const kind of KINDS)
    for await (const runs of waitingRuns(tx, kind, orgId)) {
      const arrived = await findArrived(tx, kind, runs, orgId);
      const done = runs.filter((_, n) => arrived.has(n));
      if (done.length === 0) continue;
      await sql`
        update scheduled_runs set status = 'done', decided_at = ${now}
        from unnest(${done.map((run) => run.source_id)}::text[], ${done.map((run) => run.scheduled_at)}::timestamptz[])
          as done (source_id, scheduled_at)
        where scheduled_runs.org_id = ${orgId} and scheduled_runs.source_id = done.source_id and kind = ${kind}
          and scheduled_runs.scheduled_at = done.scheduled_at and status = 'waiting'`.execute(tx);
    }
}

export interface OverdueSource {
  source_id: string;
  org_id: string;
  kind: CommandKind;
}

/**
 * Sources with runs that are due to be decided, once for each kind. A source whose log is damaged
 * can't be decided, and does not block the ones behind it.
 */
export async function* listOverdue(db: Database, now: Date): AsyncGenerator<OverdueSource, void, undefined> {
  let last: OverdueSource | undefined;
  for (;;) {
    const after = last ?? { source_id: "", kind: "" };
    const page = await db
      .selectFrom("scheduled_runs")
      .select(["source_id", "org_id", "kind"])
      .distinct()
      .where("status", "=", "waiting")
      .where("deadline_at", "<", now)
      .where(sql<boolean>`(source_id, kind) > (${after.source_id}, ${after.kind})`)
      .orderBy("source_id")
      .orderBy("kind")
      .limit(PAGE)
      .execute();
    yield* page;
    last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
  }
}

export interface MissedRun {
  scheduled_at: Date;
  deadline_at: Date;
  command_id: string | null;
}

/**
 * Decides the overdue runs of a source that were not done in time, oldest first. Of two replicas
 * one gets them.
 */
export async function markMissed(
  tx: DatabaseTransaction,
  { org_id, source_id, kind }: OverdueSource,
  now: Date,
): Promise<MissedRun[]> {
  const { rows: overdue } = await sql<WaitingRun>`
    ${WAITING} and source_id = ${source_id} and kind = ${kind} and deadline_at < ${now}`.execute(tx);
  const arrived = await findArrived(tx, kind, overdue, org_id);
  const missed = overdue.filter((_, n) => !arrived.has(n)).map((run) => run.scheduled_at);
  if (missed.length === 0) return [];
  const rows = await tx
    .updateTable("scheduled_runs")
    .set({ status: "missed", decided_at: now })
    .where("source_id", "=", source_id)
    .where("kind", "=", kind)
    .where("status", "=", "waiting")
    .where(sql<boolean>`scheduled_at = any(${missed}::timestamptz[])`)
    .returning(["scheduled_at", "deadline_at", "command_id"])
    .execute();
  return rows.toSorted((a, b) => a.scheduled_at.getTime() - b.scheduled_at.getTime());
}

/** Nobody waits any longer for the runs of a removed source. */
export async function withdrawRuns(tx: DatabaseTransaction, sourceId: string, at: Date): Promise<void> {
  await tx
    .updateTable("scheduled_runs")
    .set({ status: "withdrawn", decided_at: at })
    .where("source_id", "=", sourceId)
    .where("status", "=", "waiting")
    .execute();
}
