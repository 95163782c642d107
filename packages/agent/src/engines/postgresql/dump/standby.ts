import { RunError } from "../../../errors/run-error.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";

/** As for a dump of another program, whose newest may be that old by default. */
const MAX_AGE_MS = 8 * 24 * 3600 * 1000;

/**
 * Of a server in recovery: the time of the newest transaction that it has replayed, in seconds
 * since 1970, and whether it receives its primary's log and has replayed all of it. Without
 * transactions at the primary, the time stays the same.
 */
const REPLAYED = `select pg_catalog.json_build_array(
    date_part('epoch', pg_catalog.pg_last_xact_replay_timestamp()),
    exists (select from pg_catalog.pg_stat_wal_receiver) and not pg_catalog.pg_is_wal_replay_paused()
      and pg_catalog.pg_last_wal_replay_lsn() >= pg_catalog.pg_last_wal_receive_lsn())
  where pg_catalog.pg_is_in_recovery()`;
/** A standby that was started again may have replayed checkpoints of its primary only. */
const CHECKPOINT =
  "select pg_catalog.json_build_array(date_part('epoch', checkpoint_time)) from pg_catalog.pg_control_checkpoint()";

/**
 * Refuses a standby that no longer follows its primary: each of its backups would be made today of
 * rows of that time. Some managed services do not say how their replicas follow, and are believed.
 * Run this outside a transaction, because a refused answer would end one.
 * @throws RunError `source_missing`, SessionEnded
 */
export async function requireFollowing(session: PsqlSession, now = Date.now()): Promise<void> {
  const [[transaction, follows] = []] = await tryRows(session, REPLAYED);
  if (transaction === undefined || follows === "true") return;
  const [[checkpoint] = []] = await tryRows(session, CHECKPOINT);
  const times = [transaction, checkpoint].map(Number).filter((time) => Number.isFinite(time));
  const newest_ms = Math.max(...times) * 1000;
  if (times.length === 0 || now - newest_ms <= MAX_AGE_MS) return;
  throw new RunError(
    "source_missing",
    `the source is a standby that does not follow its primary: its newest transaction is from ${new Date(newest_ms).toISOString()}. ` +
      "Find out why it replays nothing (pg_stat_wal_receiver, pg_is_wal_replay_paused()), or back up the primary",
  );
}

async function tryRows(session: PsqlSession, sql: string): Promise<string[][]> {
  const asked = await session.run(sql);
  return asked.ok ? rowsOf(asked.output) : [];
}
