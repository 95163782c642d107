import type { CommandKind, Schedule } from "@attestore/contract";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";

export const NEXT = { backup: "next_backup_at", restore_test: "next_restore_test_at" } as const;
const CRON = { backup: "backup_cron", restore_test: "restore_test_cron" } as const;

/** Bounds what is in memory, whatever is due. */
const PAGE = 10_000;
/** Other than the seed of the source's lock. */
const JITTER_SEED = 1;

export interface DueSource {
  id: string;
  org_id: string;
  schedule: Schedule | null;
  /** The schedule's own time, without the jitter. */
  due_at: Date;
  /** How long after its times the schedule of this source is queued. */
  jitter_ms: number;
}

interface WalkedSource extends DueSource {
  is_due: boolean;
}

export interface DueOptions {
  kind: CommandKind;
  now: Date;
  jitter_s: number;
  /** Sources in a page. */
  page?: number;
}

/**
 * Pages of what is due, an organisation's sources together. Each source has a jitter between 0 and
 * `jitter_s`, which depends on its id alone: it stays the same from run to run, so a schedule keeps
 * its intervals, and sources of the same time are not all due at once. A schedule of several times
 * an hour has none: a minute would be much of its interval.
 *
 * A first page is found by the time. If more are due, the rest comes from a walk over all sources:
 * each further page by the time would sort all that are due again.
 */
export async function* listDue(
  db: Database,
  { kind, now, jitter_s, page = PAGE }: DueOptions,
): AsyncGenerator<DueSource[], void, undefined> {
  const next = sql.ref(NEXT[kind]);
  const jitter = sql`case when schedule ->> ${CRON[kind]} !~ '^[0-9]+ ' then 0 else ((hashtextextended(id, ${JITTER_SEED}) & 2147483647) % greatest(1, ${Math.round(jitter_s * 1000)}::bigint))::integer end`;
  const columns = sql`id, org_id, schedule, ${next} as due_at, ${jitter} as jitter_ms`;
  const isDue = sql`${next} <= ${now} and removed_at is null
    and ${next} + ${jitter} * interval '1 millisecond' <= ${now}`;
  const { rows: first } = await sql<DueSource>`
    select ${columns} from sources where ${isDue} order by org_id, id limit ${page}`.execute(db);
  if (first.length > 0) yield first;
  let last = first.at(-1);
  while (last !== undefined && first.length === page) {
    const walked: WalkedSource[] = await walk(db, { columns, isDue, after: last, page });
    const due = walked.filter(({ is_due }) => is_due);
    if (due.length > 0) yield due;
    last = walked.at(-1);
  }
}

/** What is due of the next sources, and the last of them in any case. */
async function walk(
  db: Database,
  at: { columns: RawBuilder<unknown>; isDue: RawBuilder<unknown>; after: DueSource; page: number },
): Promise<WalkedSource[]> {
  const { rows } = await sql<WalkedSource>`
    with walked as materialized (
      select ${at.columns}, coalesce(${at.isDue}, false) as is_due from sources
      where (org_id, id) > (${at.after.org_id}, ${at.after.id}) order by org_id, id limit ${at.page}
    )
    select * from walked
    where is_due or (org_id, id) = (select org_id, id from walked order by org_id desc, id desc limit 1)
    order by org_id, id`.execute(db);
  return rows;
}
