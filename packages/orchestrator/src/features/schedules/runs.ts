import type { CommandKind } from "@attestore/contract";
import { CLOCK_BEHIND_MS } from "@attestore/proof";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";

/**
 * A backup or test that finished before a run was due does not count for it. The SQL of proof's
 * countsForRun.
 */
export const CLOCK_BEHIND = sql`${CLOCK_BEHIND_MS / 1000} * interval '1 second'`;

/**
 * The result that a run of each kind waits for: a backup or restore test result that arrived in
 * time and had not waited on its host since before.
 */
const ARRIVED = {
  backup: sql<boolean>`exists (select from backups
    where backups.source_id = scheduled_runs.source_id and backups.created_at >= scheduled_at
      and backups.created_at <= deadline_at and backups.made_at >= scheduled_at - ${CLOCK_BEHIND})`,
  restore_test: sql<boolean>`exists (select from receipts
    where receipts.source_id = scheduled_runs.source_id and receipts.kind = 'restore_test'
      and receipts.created_at >= scheduled_at and receipts.created_at <= deadline_at
      and receipts.happened_at >= scheduled_at - ${CLOCK_BEHIND})`,
};

const KINDS = ["backup", "restore_test"] as const;

/** Organisations with waiting runs that were done in time. */
export async function listOrgsWithDone(db: Database): Promise<string[]> {
  const orgIds = new Set<string>();
  for (const kind of KINDS) {
    const rows = await db
      .selectFrom("scheduled_runs")
      .select("org_id")
      .distinct()
      .where("status", "=", "waiting")
      .where("kind", "=", kind)
      .where(ARRIVED[kind])
      .execute();
    for (const { org_id } of rows) orgIds.add(org_id);
  }
  return [...orgIds];
}

/** Ends the waiting of an organisation's runs that were done in time. */
export async function markDone(tx: DatabaseTransaction, orgId: string, now: Date): Promise<void> {
  for (const kind of KINDS)
    await tx
      .updateTable("scheduled_runs")
      .set({ status: "done", decided_at: now })
      .where("org_id", "=", orgId)
      .where("status", "=", "waiting")
      .where("kind", "=", kind)
      .where(ARRIVED[kind])
      .execute();
}

export interface OverdueSource {
  source_id: string;
  org_id: string;
  kind: CommandKind;
}

const PAGE = 200;

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
  { source_id, kind }: OverdueSource,
  now: Date,
): Promise<MissedRun[]> {
  const rows = await tx
    .updateTable("scheduled_runs")
    .set({ status: "missed", decided_at: now })
    .where("source_id", "=", source_id)
    .where("kind", "=", kind)
    .where("status", "=", "waiting")
    .where("deadline_at", "<", now)
    .where(sql<boolean>`not ${ARRIVED[kind]}`)
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
