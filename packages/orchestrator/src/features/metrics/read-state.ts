import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import type { Job } from "../../platform/jobs/job.ts";
import { listProven } from "../sources/read-proofs.ts";
import { type JobLag, readJobLag } from "../../platform/jobs/lag.ts";
import { readSweep, type SweepReport } from "../retention/sweep-report.ts";

/** The state of all replicas together, from the database. */
export interface ServiceState {
  logs: { org_id: string; tree_size: number }[];
  sources: {
    org_id: string;
    source_id: string;
    slug: string;
    is_proven: boolean;
    proof_age_s: number | null;
    backup_age_s: number | null;
  }[];
  commands: { status: string; count: number; oldest_s: number }[];
  incidents: { kind: string; count: number }[];
  agents: { status: string; count: number }[];
  mails: number;
  deliveries: number;
  jobs: JobLag[];
  /** Null before the first. */
  sweep: SweepReport | null;
}

export async function readServiceState(
  db: Database,
  jobs: readonly Pick<Job, "name" | "every_s">[],
  now: Date,
): Promise<ServiceState> {
  const ask = async <Row>(query: ReturnType<typeof sql<Row>>): Promise<Row[]> =>
    (await query.execute(db)).rows;
  const [mail] = await ask(sql<{ count: number }>`select count(*)::int as count from mail_outbox`);
  const [delivery] = await ask(
    sql<{
      count: number;
    }>`select count(*)::int as count from notification_deliveries where status = 'pending'`,
  );
  return {
    logs: await ask(sql<ServiceState["logs"][number]>`select org_id, tree_size from logs order by org_id`),
    sources: await withProofs(
      db,
      now,
      await ask(sql<Omit<ServiceState["sources"][number], "is_proven">>`
      select org_id, id as source_id, slug, extract(epoch from ${now}::timestamptz - last_proven_at)::float8 as proof_age_s,
        extract(epoch from ${now}::timestamptz - last_backup_at)::float8 as backup_age_s
      from sources where removed_at is null order by id`),
    ),
    commands: await ask(sql<ServiceState["commands"][number]>`
      select status, count(*)::int as count,
        greatest(0, extract(epoch from ${now}::timestamptz - min(created_at)))::float8 as oldest_s
      from commands where status <> 'acked' and ended_at is null group by status`),
    incidents: await ask(sql<ServiceState["incidents"][number]>`
      select kind, count(*)::int as count from incidents where ended_at is null group by kind`),
    agents: await ask(
      sql<ServiceState["agents"][number]>`select status, count(*)::int as count from agents group by status`,
    ),
    mails: mail?.count ?? 0,
    deliveries: delivery?.count ?? 0,
    jobs: await readJobLag(db, jobs, now),
    sweep: await readSweep(db),
  };
}

async function withProofs<Source extends { source_id: string }>(
  db: Database,
  now: Date,
  sources: readonly Source[],
): Promise<(Source & { is_proven: boolean })[]> {
  const ids = sources.map(({ source_id }) => source_id);
  const proven = await listProven(db, ids, now);
  return sources.map((source) => ({ ...source, is_proven: proven.has(source.source_id) }));
}
