import { type CommandKind, newId } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { tryLockSources } from "../sources/lock-source.ts";
import { type DueSource, NEXT } from "./due-sources.ts";
import type { DueTimes } from "./due-times.ts";

export interface DueRun extends DueTimes {
  source: DueSource;
}

/**
 * Queues what is due of sources of one organisation: a command for each, the times that have come,
 * and the next time, all or nothing. Passes over sources that somebody else has locked, that were
 * queued or configured since they were listed, and whose row a batch of the log holds: the next run
 * finds those that are still due. It never waits for a source's row, because a transaction that
 * held some while it waited for others would stop the log, and be stopped by it.
 *
 * A source whose command has not ended gets no other: that one counts for the new time too. Without
 * an agent to ask there is a time and no command.
 */
export async function queueBatch(
  tx: DatabaseTransaction,
  { kind, runs, now, grace_s }: { kind: CommandKind; runs: readonly DueRun[]; now: Date; grace_s: number },
): Promise<void> {
  // A backup that a command names does not expire in the meantime.
  const locked = await tryLockSources(
    tx,
    runs.map(({ source }) => source.id),
  );
  const taken = runs.filter(({ source }) => locked.has(source.id));
  if (taken.length === 0) return;
  const times = taken.flatMap(({ source, times: all }) => all.map((at) => ({ id: source.id, at })));
  const next = sql.ref(NEXT[kind]);
  const agent =
    kind === "restore_test" ? sql`coalesce(sources.test_agent_id, sources.agent_id)` : sql`sources.agent_id`;
  // Without any backup the agent gets the command all the same, and answers with an event.
  const params =
    kind === "restore_test"
      ? sql`coalesce((select jsonb_build_object('backup_id', backups.id) from backups
          where backups.source_id = asked.source_id and status = 'available' order by backups.id desc limit 1), '{}')`
      : sql`'{}'::jsonb`;
  await sql`
    with given as materialized (
      select * from unnest(${taken.map(({ source }) => source.id)}::text[], ${isoTimes(taken.map(({ source }) => source.due_at))}::timestamptz[],
        ${taken.map(({ source }) => JSON.stringify(source.schedule))}::text[], ${isoTimes(taken.map((run) => run.next))}::timestamptz[],
        ${taken.map(() => newId("command", now.getTime()))}::text[]) as given (source_id, due_at, schedule, next_at, command_id)
    ), due as materialized (
      select sources.id as source_id, sources.org_id, ${agent} as agent_id, given.next_at, given.command_id
      from given join sources on sources.id = given.source_id
      where sources.removed_at is null and date_trunc('milliseconds', sources.${next}) = given.due_at
        and sources.schedule is not distinct from given.schedule::jsonb
      for no key update of sources skip locked
    ), asked as materialized (
      select due.*, agents.status = 'active' as is_active, unfinished.id as unfinished_id
      from due join agents on agents.id = due.agent_id
      left join lateral (
        select commands.id from commands
        where commands.source_id = due.source_id and kind = ${kind} and commands.agent_id = due.agent_id
          and outcome = '{}' and ended_at is null
          and (commands.status <> 'acked' or acked_at > ${new Date(now.getTime() - grace_s * 1000)})
        order by commands.id desc limit 1) as unfinished on true
    ), queued as (
      insert into commands (id, org_id, source_id, agent_id, kind, params, issued_by, created_at)
      select command_id, org_id, source_id, agent_id, ${kind}, ${params}, 'schedule', ${now}::timestamptz
      from asked where is_active and unfinished_id is null
      returning id, source_id
    ), recorded as (
      insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, command_id)
      select source_id, ${kind}, at, org_id, at + ${grace_s}::float8 * interval '1 second',
        case when at = max(at) over (partition by source_id) then coalesce(unfinished_id, queued.id) end
      from unnest(${times.map(({ id }) => id)}::text[], ${isoTimes(times.map(({ at }) => at))}::timestamptz[]) as come (source_id, at)
      join asked using (source_id) left join queued using (source_id)
      -- Recorded already: stays as it is, but for the command that it waits for.
      on conflict (source_id, kind, scheduled_at, org_id) do update set command_id = excluded.command_id
        where scheduled_runs.status = 'waiting' and scheduled_runs.command_id is null
    )
    update sources set ${next} = due.next_at from due where sources.id = due.source_id`.execute(tx);
}

function isoTimes(times: readonly (Date | null)[]): (string | null)[] {
  return times.map((at) => at?.toISOString() ?? null);
}
