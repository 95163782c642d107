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
  tests_are_scheduled: boolean;
  backups_are_scheduled: boolean;
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
      coalesce(schedule ->> 'restore_test_cron', '') <> '' as tests_are_scheduled,
      coalesce(schedule ->> 'backup_cron', '') <> '' as backups_are_scheduled,
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

export interface SourceDays {
  /** `0b4p5f…`: how many days after the first, and what the receipts of that day say. */
  days: string;
  sizes: number[];
  restore_times: number[];
  own_checks: number | null;
  schema_drift: boolean;
  environment_drift: boolean;
}

/** A change is shown for so many days. */
const DRIFT_DAYS = 7;
/** So many days go into the trends. */
const TREND_DAYS = 30;

interface DaysRow {
  source_id: string;
  days: string;
  sizes: string | null;
  restore_times: string | null;
  own_checks: string | null;
  schema_drift: boolean;
  environment_drift: boolean;
}

/** What the receipts of each source say of its days. The database puts them together: a row a source, not a row a day. */
export async function readDays(
  tx: DatabaseTransaction,
  orgId: string,
  first: string,
): Promise<Map<string, SourceDays>> {
  const { rows } = await sql<DaysRow>`
    select source_id,
      string_agg((day - ${first}::date)::text || case when failed > 0 then 'f' when passed > 0 then 'p' else 'b' end, ''
        order by day) as days,
      string_agg(size_bytes::text, ',' order by day) filter (where is_recent) as sizes,
      string_agg(restore_ms::text, ',' order by day) filter (where is_recent) as restore_times,
      string_agg(own_checks::text, ',' order by day) filter (where is_recent) as own_checks,
      bool_or(is_new and (schema_changed or coalesce(schema_digest <> schema_before, false))) as schema_drift,
      bool_or(is_new and (environment_changed or coalesce(environment_digest <> environment_before, false)))
        as environment_drift
    from (
      select *,
        day > current_day - ${TREND_DAYS}::int as is_recent,
        day > current_day - ${DRIFT_DAYS}::int as is_new,
        lag(schema_digest) over (partition by source_id order by day) as schema_before,
        lag(environment_digest) over (partition by source_id order by day) as environment_before
      from source_days, (select (now() at time zone 'UTC')::date as current_day) as today
      where org_id = ${orgId} and day >= ${first}::date
    ) as seen
    group by source_id`.execute(tx);
  return new Map(
    rows.map((row) => [
      row.source_id,
      {
        days: row.days,
        sizes: numbersOf(row.sizes),
        restore_times: numbersOf(row.restore_times),
        own_checks: numbersOf(row.own_checks).at(-1) ?? null,
        schema_drift: row.schema_drift,
        environment_drift: row.environment_drift,
      },
    ]),
  );
}

function numbersOf(text: string | null): number[] {
  return text === null ? [] : text.split(",").map(Number);
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
