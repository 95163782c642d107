import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";

/** The week of one source. */
export interface SourceWeek {
  id: string;
  name: string;
  slug: string;
  /** Restore tests that its schedule named in the week, and what became of them. */
  scheduled: number;
  missed: number;
  undecided: number;
  /** Receipts that the log took in the week. */
  passed: number;
  failed: number;
  backups: number;
  backupsMissed: number;
}

export interface Period {
  from: Date;
  to: Date;
}

/** Every source that is not removed, or for which something was recorded in the week. */
export async function summarizeWeek(
  tx: DatabaseTransaction,
  orgId: string,
  { from, to }: Period,
): Promise<SourceWeek[]> {
  const [first, end] = [firstIdAt("receipt", from.getTime()), firstIdAt("receipt", to.getTime())];
  const { rows } = await sql<SourceWeek & { removed: boolean }>`
    with runs as (
      select source_id,
        count(*) filter (where kind = 'restore_test' and status <> 'withdrawn')::int as scheduled,
        count(*) filter (where kind = 'restore_test' and status = 'missed')::int as missed,
        count(*) filter (where kind = 'restore_test' and status = 'waiting')::int as undecided,
        count(*) filter (where kind = 'backup' and status = 'missed')::int as backups_missed
      from scheduled_runs where org_id = ${orgId} and scheduled_at >= ${from} and scheduled_at < ${to} group by source_id
    ), seen as (
      select source_id, count(*) filter (where kind = 'backup')::int as backups,
        count(*) filter (where result = 'passed')::int as passed, count(*) filter (where result = 'failed')::int as failed
      from receipts where org_id = ${orgId} and id >= ${first} and id < ${end} group by source_id
    )
    select id, name, slug, removed_at is not null as removed, coalesce(scheduled, 0) as scheduled, coalesce(missed, 0) as missed,
      coalesce(undecided, 0) as undecided, coalesce(passed, 0) as passed, coalesce(failed, 0) as failed,
      coalesce(backups, 0) as backups, coalesce(backups_missed, 0) as "backupsMissed"
    from sources left join runs on runs.source_id = sources.id left join seen on seen.source_id = sources.id
    where sources.org_id = ${orgId} and sources.created_at < ${to}
      and (removed_at is null or runs.source_id is not null or seen.source_id is not null)
    order by slug, id`.execute(tx);
  return rows;
}
