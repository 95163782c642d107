import type { AgentEncryption, AgentSpool, CommandKind, Objectives } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction, SourceLabels } from "../../platform/database/schema.ts";
import { dayOfMark } from "./day-strip.ts";
import type { Incident } from "../schedules/incidents.ts";

export interface SourceRow {
  id: string;
  slug: string;
  name: string;
  engine: string;
  agent_id: string;
  test_agent_id: string | null;
  objectives: Objectives | null;
  labels: SourceLabels;
  last_backup_at: Date | null;
  last_proven_at: Date | null;
  next_backup_at: Date | null;
  next_restore_test_at: Date | null;
}

/** The organisation's sources. */
export async function readSources(tx: DatabaseTransaction, orgId: string): Promise<SourceRow[]> {
  return tx
    .selectFrom("sources")
    .select(["id", "slug", "name", "engine", "agent_id", "test_agent_id", "objectives", "labels"])
    .select(["last_backup_at", "last_proven_at", "next_backup_at", "next_restore_test_at"])
    .where("org_id", "=", orgId)
    .where("removed_at", "is", null)
    .execute();
}

/** The kinds of unfinished commands, by source. */
export async function readRunning(
  tx: DatabaseTransaction,
  sourceIds: readonly string[],
): Promise<Map<string, CommandKind[]>> {
  const { rows } = await sql<{ source_id: string; kind: CommandKind }>`
    select distinct source_id, kind from commands
    where source_id = any(${[...sourceIds]}) and outcome = '{}' and ended_at is null
    order by source_id, kind`.execute(tx);
  return new Map(
    Map.groupBy(rows, ({ source_id }) => source_id)
      .entries()
      .map(([id, commands]) => [id, commands.map(({ kind }) => kind)]),
  );
}

/** A source's days, by its receipts. */
export interface SourceDays {
  /**
   * Two characters for each day: one whose code is 48 plus the number of days after the first, and
   * then f, p or b.
   */
  marks: string;
  /** Of the last days that have one, oldest first. */
  sizes: number[];
  restore_times: number[];
  /** Checks that somebody wrote, in the newest restore test. */
  own_checks: number | null;
}

/** How many days the trends cover. */
const TREND_DAYS = 30;

/**
 * More checks than a test can have. So a day and its number of checks make one number, and the
 * largest one belongs to the newest day.
 */
const CHECKS_AT_MOST = 100_000;

/**
 * Each day of a source from the first on, by its receipts. Home reads more of this than of anything
 * else. So the database returns one row for each source and not for each day, and neither sorts nor
 * converts each value to text. All lists of a source have its days in the same order, which may be
 * any.
 */
export async function readDays(
  tx: DatabaseTransaction,
  orgId: string,
  { first, days }: { first: string; days: number },
): Promise<Map<string, SourceDays>> {
  const trendFrom = days - TREND_DAYS;
  const { rows } = await sql<{
    source_id: string;
    marks: string;
    sizes: string | null;
    restore_times: string | null;
    newest_own_checks: number | null;
  }>`
    select source_id,
      string_agg(chr(48 + (day - ${first}::date)) || case when failed > 0 then 'f' when passed > 0 then 'p' else 'b' end, '') as marks,
      (array_agg(size_bytes) filter (where day >= ${first}::date + ${trendFrom}::int))::text as sizes,
      (array_agg(restore_ms) filter (where day >= ${first}::date + ${trendFrom}::int))::text as restore_times,
      max((day - ${first}::date) * ${CHECKS_AT_MOST}::int + least(own_checks, ${CHECKS_AT_MOST - 1}::int))
        filter (where own_checks is not null) as newest_own_checks
    from source_days
    where org_id = ${orgId} and day >= ${first}::date
    group by source_id`.execute(tx);
  return new Map(
    rows.map(({ source_id, marks, sizes, restore_times, newest_own_checks }) => {
      const daysOfTrend: number[] = [];
      for (let at = 0; at < marks.length; at += 2) {
        const day = dayOfMark(marks, at);
        if (day >= trendFrom) daysOfTrend.push(day);
      }
      return [
        source_id,
        {
          marks,
          sizes: byDay(daysOfTrend, sizes),
          restore_times: byDay(daysOfTrend, restore_times),
          own_checks: newest_own_checks === null ? null : newest_own_checks % CHECKS_AT_MOST,
        },
      ];
    }),
  );
}

/** The known values of `{1000,NULL,990}`, earlier days first. */
function byDay(days: readonly number[], list: string | null): number[] {
  if (list === null) return [];
  const values: number[] = [];
  list
    .slice(1, -1)
    .split(",")
    .forEach((value, index) => {
      if (value !== "NULL") values[days[index] ?? 0] = Number(value);
    });
  // Without the days that have none.
  return values.filter(() => true);
}

/** How many days a change is shown. */
const DRIFT_DAYS = 7;

export interface Drift {
  schema: boolean;
  environment: boolean;
}

/** Sources whose backups are made differently than a week ago, or were in between. */
export async function readDrift(
  tx: DatabaseTransaction,
  orgId: string,
  today: Date,
): Promise<Map<string, Drift>> {
  const first = new Date(today.getTime() - DRIFT_DAYS * 86_400_000).toISOString().slice(0, 10);
  const { rows } = await sql<Drift & { source_id: string }>`
    select source_id,
      min(schema_digest) <> max(schema_digest) or coalesce(min(objects_digest) <> max(objects_digest), false)
        or coalesce(min(definitions_digest) <> max(definitions_digest), false) or bool_or(schema_changed) as schema,
      min(environment_digest) <> max(environment_digest) or bool_or(environment_changed) as environment
    from source_days
    where org_id = ${orgId} and day >= ${first}::date
    group by source_id`.execute(tx);
  return new Map(rows.map(({ source_id, schema, environment }) => [source_id, { schema, environment }]));
}

/**
 * Days (`2026-11-21`, UTC) on which something that a schedule asked for did not happen, by source.
 * Under row-level security PostgreSQL can use an index for a given value, but not for one that a
 * time zone conversion produces.
 */
export async function readMissedDays(
  tx: DatabaseTransaction,
  orgId: string,
  first: string,
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ source_id: string; days: string }>`
    select source_id, string_agg(distinct (scheduled_at at time zone 'UTC')::date::text, ' ') as days
    from scheduled_runs
    where org_id = ${orgId} and status = 'missed' and scheduled_at >= ${`${first}T00:00:00Z`}::timestamptz
    group by source_id`.execute(tx);
  return new Map(rows.map(({ source_id, days }) => [source_id, days.split(" ")]));
}

/** Open ones, newest first. */
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
  is_read_only: boolean;
}

export async function readLogHealth(tx: DatabaseTransaction, orgId: string): Promise<LogHealth> {
  const { rows } = await sql<LogHealth>`
    select logs.tree_size, orgs.created_at, missing_head_size is not null as is_read_only,
      coalesce((select recorded_at from log_heads where log_heads.org_id = logs.org_id order by tree_size desc limit 1),
        orgs.created_at) as grown_at,
      (select emitted_at from log_emissions where log_emissions.org_id = logs.org_id order by hour desc limit 1) as emitted_at
    from logs join orgs on orgs.id = logs.org_id where logs.org_id = ${orgId}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("an organisation has no log");
  return row;
}
