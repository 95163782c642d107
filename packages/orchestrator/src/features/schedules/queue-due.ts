import type { CommandKind } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { findAgentStatus } from "../agents/agent-status.ts";
import { queueCommand } from "../command-queue/queue-command.ts";
import { type ConfiguredSource, SOURCE_COLUMNS, updateSource } from "../sources/configured-source.ts";
import { tryLockSource } from "../sources/lock-source.ts";
import { nextOf } from "./next-times.ts";
import { insertRuns } from "./runs.ts";
import type { SchedulesDeps } from "./settings.ts";

const PAGE = 200;
/**
 * How many times of one schedule are recorded after a pause of the service: a month of hourly runs.
 */
const MAX_CAUGHT_UP = 1000;

const NEXT = { backup: "next_backup_at", restore_test: "next_restore_test_at" } as const;

/**
 * Queues due runs, once across all replicas: each source in a transaction that also sets its next
 * time. Times that passed while the service was down are recorded, and one command is queued for
 * all of them. While the previous command is unfinished no other is added: it counts for the new
 * time too. If a source cannot be queued, for example because this version does not know its time
 * zone, the others are queued all the same: the first such failure is thrown at the end.
 */
export async function queueDue(
  deps: SchedulesDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  const failures: unknown[] = [];
  for (const kind of ["backup", "restore_test"] as const) {
    if (signal.aborted) break;
    const failed: string[] = [];
    for (;;) {
      const due = await listDue(deps.db, kind, now, failed);
      let queued = 0;
      for (const { id, org_id: orgId } of due) {
        if (signal.aborted) break;
        try {
          const done = await runInOrg(deps.db, orgId, (tx) => queueOne(tx, deps, { id, kind, now }));
          if (done) queued += 1;
        } catch (error) {
          failures.push(error);
          failed.push(id);
        }
      }
      // Another replica handles the rest, or the next run does.
      if (signal.aborted || due.length < PAGE || queued === 0) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function listDue(
  db: Database,
  kind: CommandKind,
  now: Date,
  except: readonly string[],
): Promise<{ id: string; org_id: string }[]> {
  return db
    .selectFrom("sources")
    .select(["id", "org_id"])
    .where(NEXT[kind], "<=", now)
    .where("removed_at", "is", null)
    .$if(except.length > 0, (query) => query.where("id", "not in", except))
    .orderBy(NEXT[kind])
    .limit(PAGE)
    .execute();
}

async function queueOne(
  tx: DatabaseTransaction,
  deps: SchedulesDeps,
  { id, kind, now }: { id: string; kind: CommandKind; now: Date },
): Promise<boolean> {
  if (!(await tryLockSource(tx, id))) return false;
  const source = await findDue(tx, id, kind, now);
  const due = source?.[NEXT[kind]] ?? null;
  if (source === null || due === null) return false;
  const { times, next } = timesUpTo(source, kind, due, now);
  const commandId = await commandFor(tx, deps, source, kind, now);
  await insertRuns(tx, {
    source,
    kind,
    times,
    commandId,
    grace_s: deps.scheduleGrace_s,
  });
  await updateSource(tx, id, { [NEXT[kind]]: next });
  return true;
}

async function findDue(
  tx: DatabaseTransaction,
  id: string,
  kind: CommandKind,
  now: Date,
): Promise<ConfiguredSource | null> {
  const row = await tx
    .selectFrom("sources")
    .select(SOURCE_COLUMNS)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .where(NEXT[kind], "<=", now)
    .executeTakeFirst();
  return row ?? null;
}

/** The times that have come, oldest first, and the one after them. */
function timesUpTo(
  source: ConfiguredSource,
  kind: CommandKind,
  due: Date,
  now: Date,
): { times: Date[]; next: Date | null } {
  const times: Date[] = [];
  let next: Date | null = due;
  while (next !== null && next <= now && times.length < MAX_CAUGHT_UP) {
    times.push(next);
    next = nextOf(source.schedule, kind, next);
  }
  return { times, next: next !== null && next <= now ? nextOf(source.schedule, kind, now) : next };
}

/** The unfinished command, or a new one. Null if there is no agent to ask. */
async function commandFor(
  tx: DatabaseTransaction,
  deps: SchedulesDeps,
  source: ConfiguredSource,
  kind: CommandKind,
  now: Date,
): Promise<string | null> {
  const agentId = kind === "restore_test" ? (source.test_agent_id ?? source.agent_id) : source.agent_id;
  const since = new Date(now.getTime() - deps.scheduleGrace_s * 1000);
  const { rows } = await sql<{ id: string }>`
    select id from commands
    where source_id = ${source.id} and kind = ${kind} and agent_id = ${agentId} and outcome = '{}' and ended_at is null
      and (status <> 'acked' or acked_at > ${since})
    order by id desc limit 1`.execute(tx);
  const [running] = rows;
  if (running !== undefined) return running.id;
  if ((await findAgentStatus(tx, agentId)) !== "active") return null;
  const queued = await queueCommand(tx, { source, kind, backupId: null, issuedBy: "schedule", now });
  return queued.commandId;
}
