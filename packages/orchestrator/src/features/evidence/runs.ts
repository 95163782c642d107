import { firstIdAt } from "@attestore/contract";
import { RUNS_IN_FILE, type ScheduledRun } from "@attestore/proof";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import { CLOCK_BEHIND } from "../schedules/counts-for-run.ts";
import type { Snapshot } from "./snapshot.ts";

interface RunRow {
  source_id: string;
  kind: "backup" | "restore_test";
  scheduled_at: Date;
  deadline_at: Date;
  status: "waiting" | "done" | "missed" | "withdrawn";
  decided_at: Date | null;
  incident_id: string | null;
}

export interface RunPage {
  runs: ScheduledRun[];
  /** Where the next page begins; null after the last page. */
  next: RunPosition | null;
}

export type RunPosition = Pick<RunRow, "scheduled_at" | "source_id" | "kind">;

/** The runs scheduled in the period, in the order of their times, as known at the snapshot. */
export async function readRuns(
  db: Database,
  { orgId, period, exportedAt, head, bodiesUntil }: Snapshot,
  after: RunPosition | null,
): Promise<RunPage> {
  const { rows } = await sql<RunRow>`
    select runs.source_id, runs.kind, scheduled_at, deadline_at, status, decided_at, incidents.id as incident_id
    from scheduled_runs as runs
    left join incidents on incidents.source_id = runs.source_id and incidents.kind = runs.kind || '_missed'
      and incidents.began_at = runs.deadline_at
    where runs.org_id = ${orgId} and scheduled_at >= ${period.from} and scheduled_at < ${period.to}
      and (scheduled_at, runs.source_id, runs.kind) > (${after?.scheduled_at ?? new Date(0)}, ${after?.source_id ?? ""}, ${after?.kind ?? ""})
    order by scheduled_at, runs.source_id, runs.kind
    limit ${RUNS_IN_FILE}`.execute(db);
  const first = await firstReceipts(db, orgId, rows, head.size);
  const ids = rows.flatMap(({ incident_id }) => incident_id ?? []);
  const events = await listEventsIn(db, orgId, ids, { size: head.size, bodiesUntil });
  const runs = rows.map((row, n): ScheduledRun => {
    const receipt = first.get(n) ?? null;
    const status = statusOf(row, receipt, exportedAt);
    return {
      source_id: row.source_id,
      kind: row.kind,
      scheduled_at: row.scheduled_at.toISOString(),
      deadline_at: row.deadline_at.toISOString(),
      status,
      receipt_id: receipt?.id ?? null,
      event_id:
        status === "missed" && row.incident_id !== null && events.has(row.incident_id)
          ? row.incident_id
          : null,
    };
  });
  return { runs, next: rows.length < RUNS_IN_FILE ? null : (rows.at(-1) ?? null) };
}

/** Which of these events the pack has. An incident has the id of the event that tells about it. */
async function listEventsIn(
  db: Database,
  orgId: string,
  ids: readonly string[],
  { size, bodiesUntil }: { size: number; bodiesUntil: Date },
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom("events")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .where("log_index", "<", size)
    .where("created_at", "<", bodiesUntil)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

interface FirstReceipt {
  n: number;
  id: string;
  result: "passed" | "failed" | null;
}

/**
 * The first receipt that counts for each run, by the run's place in the list. Ids sort by when they
 * were recorded.
 */
async function firstReceipts(
  db: Database,
  orgId: string,
  runs: readonly RunRow[],
  size: number,
): Promise<Map<number, FirstReceipt>> {
  if (runs.length === 0) return new Map();
  const { rows } = await sql<FirstReceipt>`
    select (runs.n - 1)::int as n, first.id, first.result
    from unnest(${runs.map(({ source_id }) => source_id)}::text[], ${runs.map(({ kind }) => kind)}::text[],
        ${runs.map(({ scheduled_at }) => firstIdAt("receipt", scheduled_at.getTime()))}::text[],
        ${runs.map(({ deadline_at }) => firstIdAt("receipt", deadline_at.getTime() + 1))}::text[],
        ${runs.map(({ scheduled_at }) => scheduled_at)}::timestamptz[])
      with ordinality as runs (source_id, kind, low, high, scheduled_at, n)
    cross join lateral (
      select id, result from receipts
      where org_id = ${orgId} and receipts.source_id = runs.source_id and receipts.kind = runs.kind and id >= runs.low and id < runs.high
        and log_index < ${size} and happened_at >= runs.scheduled_at - ${CLOCK_BEHIND}
      order by id limit 1) as first`.execute(db);
  return new Map(rows.map((row) => [row.n, row]));
}

/**
 * A receipt that arrived in time decides, whatever the service thought; otherwise the decision from
 * before the snapshot.
 */
function statusOf(
  { kind, status, decided_at }: RunRow,
  receipt: FirstReceipt | null,
  exportedAt: Date,
): ScheduledRun["status"] {
  if (receipt !== null) return receipt.result ?? "done";
  if (decided_at === null || decided_at > exportedAt) return "waiting";
  // A restore test that is done has a receipt; here it came after the snapshot.
  return status === "done" && kind === "restore_test" ? "waiting" : status;
}
