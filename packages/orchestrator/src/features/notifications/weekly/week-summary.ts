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
  // By itself: an engine that spreads receipts over machines joins no other table with them.
  const { rows: seen } = await sql<Seen>`
    select source_id, count(*) filter (where kind = 'backup')::int as backups,
      count(*) filter (where result = 'passed')::int as passed, count(*) filter (where result = 'failed')::int as failed
    from receipts where org_id = ${orgId} and id >= ${first} and id < ${end} group by source_id`.execute(tx);
  const seenIds = seen.map(({ source_id }) => source_id);
  const { rows } = await sql<Omit<SourceWeek, "passed" | "failed" | "backups">>`
    with runs as (
      select source_id,
        count(*) filter (where kind = 'restore_test' and status <> 'withdrawn')::int as scheduled,
        count(*) filter (where kind = 'restore_test' and status = 'missed')::int as missed,
        count(*) filter (where kind = 'restore_test' and status = 'waiting')::int as undecided,
        count(*) filter (where kind = 'backup' and status = 'missed')::int as backups_missed
      from scheduled_runs where org_id = ${orgId} and scheduled_at >= ${from} and scheduled_at < ${to} group by source_id
    )
    select id, name, slug, coalesce(scheduled, 0) as scheduled, coalesce(missed, 0) as missed,
      coalesce(undecided, 0) as undecided, coalesce(backups_missed, 0) as "backupsMissed"
    from sources left join runs on runs.source_id = sources.id
    where sources.org_id = ${orgId} and sources.created_at < ${to}
      and (removed_at is null or runs.source_id is not null or id = any(${seenIds}::text[]))
    order by slug, id`.execute(tx);
  const seenOf = new Map(seen.map((one) => [one.source_id, one]));
  return rows.map((source) => {
    const { passed, failed, backups } = seenOf.get(source.id) ?? NOTHING_SEEN;
    return { ...source, passed, failed, backups };
  });
}

interface Seen {
  source_id: string;
  passed: number;
  failed: number;
  backups: number;
}

const NOTHING_SEEN = { passed: 0, failed: 0, backups: 0 };
