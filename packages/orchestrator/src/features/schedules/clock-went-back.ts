import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { SOURCE_COLUMNS, updateSource } from "../sources/configured-source.ts";
import { tryLockSource } from "../sources/lock-source.ts";
import { nextOf } from "./next-times.ts";
import type { SchedulesDeps } from "./settings.ts";

const PAGE = 200;
const NEXT = { backup: "next_backup_at", restore_test: "next_restore_test_at" } as const;
type Kind = keyof typeof NEXT;

/**
 * After the clock went back: a schedule whose next time was computed while it was ahead would do
 * nothing until then. Each gets the first time after now, and times of the future that were decided
 * already wait again. May run twice, and on several replicas.
 */
export async function rescheduleFromNow(
  { db }: Pick<SchedulesDeps, "db">,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  for (const kind of ["backup", "restore_test"] as const)
    for (let after = ""; !signal.aborted;) {
      const page = await listLater(db, kind, now, after);
      for (const { id, org_id } of page)
        if (!signal.aborted) await runInOrg(db, org_id, (tx) => bringOneBack(tx, { id, kind, now }));
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
}

async function listLater(
  db: Database,
  kind: Kind,
  now: Date,
  after: string,
): Promise<{ id: string; org_id: string }[]> {
  return db
    .selectFrom("sources")
    .select(["id", "org_id"])
    .where("id", ">", after)
    .where(NEXT[kind], ">", now)
    .where("removed_at", "is", null)
    .orderBy("id")
    .limit(PAGE)
    .execute();
}

/** The caller that locks the source now configures or queues it by the present time. */
async function bringOneBack(
  tx: DatabaseTransaction,
  { id, kind, now }: { id: string; kind: Kind; now: Date },
): Promise<void> {
  if (!(await tryLockSource(tx, id))) return;
  const source = await tx
    .selectFrom("sources")
    .select(SOURCE_COLUMNS)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  const before = source?.[NEXT[kind]] ?? null;
  if (source === undefined || before === null) return;
  const next = nextOf(source.schedule, kind, now);
  if (next === null || before <= next) return;
  await updateSource(tx, id, { [NEXT[kind]]: next });
  await tx
    .updateTable("scheduled_runs")
    .set({ status: "waiting", decided_at: null, command_id: null })
    .where("source_id", "=", id)
    .where("kind", "=", kind)
    .where("scheduled_at", ">", now)
    .where(sql<boolean>`status <> 'done'`)
    .execute();
}
