import {
  firstIdAt,
  type AgentEncryption,
  type AgentSpool,
  type CommandKind,
  type Objectives,
} from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Incident } from "../schedules/incidents.ts";

export interface SourceRow {
  id: string;
  slug: string;
  name: string;
  engine: string;
  agent_id: string;
  test_agent_id: string | null;
  objectives: Objectives | null;
  last_backup_at: Date | null;
  last_proven_at: Date | null;
  next_backup_at: Date | null;
  next_restore_test_at: Date | null;
  /** There is a schedule of restore tests, and the last proof is of one that it asked for. */
  is_proven_by_schedule: boolean;
  /** Of the newest restore test that ran. */
  tested_at: Date | null;
  test_result: "passed" | "failed" | null;
  running: CommandKind[];
}

/** The organisation's sources with the newest test and the unfinished commands of each. */
export async function readSources(tx: DatabaseTransaction, orgId: string): Promise<SourceRow[]> {
  const { rows } = await sql<Omit<SourceRow, "running"> & { running: string }>`
    select sources.id, slug, name, engine, agent_id, test_agent_id, objectives, last_backup_at, last_proven_at,
      next_backup_at, next_restore_test_at,
      coalesce(schedule ->> 'restore_test_cron', '') <> '' and coalesce((select deadline_at >= last_proven_at from scheduled_runs as run
        where run.source_id = sources.id and run.kind = 'restore_test' and run.status in ('waiting', 'done')
          and run.scheduled_at <= last_proven_at order by run.scheduled_at desc limit 1), false) as is_proven_by_schedule,
      test.created_at as tested_at, test.result as test_result,
      coalesce((select string_agg(distinct kind, ' ') from commands
        where commands.source_id = sources.id and outcome = '{}' and ended_at is null), '') as running
    from sources
    left join lateral (select created_at, result from receipts
      where receipts.source_id = sources.id and kind = 'restore_test' order by created_at desc limit 1) as test on true
    where sources.org_id = ${orgId} and removed_at is null`.execute(tx);
  return rows.map((row) => ({
    ...row,
    running: row.running === "" ? [] : (row.running.split(" ") as CommandKind[]),
  }));
}

/** What the receipts of a source say of its days. */
export interface SourceDays {
  /** Two characters a day: the one whose code is 48 and how many days after the first it was, and f, p or b. */
  marks: string;
  /** Of the last days that have one, oldest first. */
  sizes: number[];
  restore_times: number[];
  /** Checks that somebody wrote for the newest restore test. */
  own_checks: number | null;
}

/** So many days go into the trends. */
const TREND_DAYS = 30;

/**
 * What receipts say of the days from the first on. The database puts them together, a row a source and not a row a day, and nothing is
 * sorted there: of all that home reads this is the most.
 */
export async function readDays(
  tx: DatabaseTransaction,
  orgId: string,
  { first, days }: { first: string; days: number },
): Promise<Map<string, SourceDays>> {
  const { rows } = await sql<{ source_id: string; marks: string; trend: string | null }>`
    select source_id,
      string_agg(chr(48 + (day - ${first}::date)) || case when failed > 0 then 'f' when passed > 0 then 'p' else 'b' end, '') as marks,
      string_agg(day - ${first}::date || ':' || coalesce(size_bytes::text, '') || ':' || coalesce(restore_ms::text, '') || ':'
        || coalesce(own_checks::text, ''), ' ') filter (where day >= ${first}::date + ${days - TREND_DAYS}::int) as trend
    from source_days
    where org_id = ${orgId} and day >= ${first}::date
    group by source_id`.execute(tx);
  return new Map(rows.map(({ source_id, marks, trend }) => [source_id, { marks, ...trendsOf(trend ?? "") }]));
}

/** `3:1000:250:2 2:990::`: the day, and what is known of it; in any order. */
function trendsOf(text: string): Omit<SourceDays, "marks"> {
  const days = text
    .split(" ")
    .map((day) => day.split(":"))
    .toSorted(([a], [b]) => Number(a) - Number(b));
  const known = (column: number): number[] =>
    days.flatMap((day) => {
      const value = day[column] ?? "";
      return value === "" ? [] : [Number(value)];
    });
  return { sizes: known(1), restore_times: known(2), own_checks: known(3).at(-1) ?? null };
}

/** A change is shown for so many days. */
const DRIFT_DAYS = 7;

export interface Drift {
  schema: boolean;
  environment: boolean;
}

/** Sources whose backups are not made as they were a week ago, or were not in between. */
export async function readDrift(
  tx: DatabaseTransaction,
  orgId: string,
  today: Date,
): Promise<Map<string, Drift>> {
  const first = new Date(today.getTime() - DRIFT_DAYS * 86_400_000).toISOString().slice(0, 10);
  const { rows } = await sql<Drift & { source_id: string }>`
    select source_id, min(schema_digest) <> max(schema_digest) or bool_or(schema_changed) as schema,
      min(environment_digest) <> max(environment_digest) or bool_or(environment_changed) as environment
    from source_days
    where org_id = ${orgId} and day >= ${first}::date
    group by source_id`.execute(tx);
  return new Map(rows.map(({ source_id, schema, environment }) => [source_id, { schema, environment }]));
}

/** Days (`2026-11-21`, UTC) on which what a schedule asked for did not happen, by source. */
export async function readMissedDays(
  tx: DatabaseTransaction,
  orgId: string,
  first: string,
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ source_id: string; days: string }>`
    select source_id, string_agg(distinct (scheduled_at at time zone 'UTC')::date::text, ' ') as days
    from scheduled_runs
    where org_id = ${orgId} and status = 'missed' and scheduled_at >= ${first}::date at time zone 'UTC'
    group by source_id`.execute(tx);
  return new Map(rows.map(({ source_id, days }) => [source_id, days.split(" ")]));
}

export interface Failure {
  kind: "backup_failed" | "restore_failed" | "attestation_failed";
  /** `2026-11-21`, UTC */
  day: string;
  at: Date;
}

/** What agents reported that could not be done, once a kind and day, by source. */
export async function readFailures(
  tx: DatabaseTransaction,
  sourceIds: readonly string[],
  first: string,
): Promise<Map<string, Failure[]>> {
  if (sourceIds.length === 0) return new Map();
  const { rows } = await sql<Failure & { source_id: string }>`
    select source_id, kind, (least(occurred_at, created_at) at time zone 'UTC')::date::text as day,
      max(least(occurred_at, created_at)) as at
    from events
    where source_id = any(${[...sourceIds]}) and id >= ${firstIdAt("event", Date.parse(first))}
      and kind in ('backup_failed', 'restore_failed', 'attestation_failed')
    group by 1, 2, 3`.execute(tx);
  return Map.groupBy(rows, ({ source_id }) => source_id);
}

/** Those that have not ended, newest first. */
export async function readIncidents(tx: DatabaseTransaction, orgId: string): Promise<Incident[]> {
  return tx
    .selectFrom("incidents")
    .select(["id", "org_id", "kind", "source_id", "agent_id", "began_at", "ended_at"])
    .where("org_id", "=", orgId)
    .where("ended_at", "is", null)
    .orderBy("id", "desc")
    .execute();
}

export interface AgentRow {
  id: string;
  name: string;
  hostname: string;
  status: "active" | "revoked";
  last_seen_at: Date | null;
  spool: AgentSpool | null;
  encryption: AgentEncryption | null;
}

export async function readAgents(tx: DatabaseTransaction, orgId: string): Promise<AgentRow[]> {
  return tx
    .selectFrom("agents")
    .select(["id", "name", "hostname", "status", "last_seen_at", "spool", "encryption"])
    .where("org_id", "=", orgId)
    .orderBy("name")
    .orderBy("id")
    .execute();
}

export interface LogHealth {
  tree_size: number;
  grown_at: Date;
  emitted_at: Date | null;
  created_at: Date;
}

export async function readLogHealth(tx: DatabaseTransaction, orgId: string): Promise<LogHealth> {
  const { rows } = await sql<LogHealth>`
    select logs.tree_size, orgs.created_at,
      coalesce((select recorded_at from log_heads where log_heads.org_id = logs.org_id order by tree_size desc limit 1),
        orgs.created_at) as grown_at,
      (select emitted_at from log_emissions where log_emissions.org_id = logs.org_id order by hour desc limit 1) as emitted_at
    from logs join orgs on orgs.id = logs.org_id where logs.org_id = ${orgId}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("an organisation has no log");
  return row;
}
