import { errorMessage } from "@attestore/host/errno";
import { Cron } from "croner";
import type { Pool } from "pg";
import type { Logger } from "../../platform/logging/logger.ts";
import type { CheckpointSigner } from "./checkpoint-signer.ts";
import { requireClocksAgree } from "../clock-off.ts";
import { LogCorruption } from "../log-corruption.ts";
import { packHashes, plainArray } from "../../platform/database/packed.ts";
import { withSession, type SqlSession, type PreparedQuery } from "../../platform/database/sql-session.ts";

export interface CheckpointPublisherOptions {
  pool: Pool;
  signer: CheckpointSigner;
  logger: Logger;
  /** All logs have their checkpoint of this hour, from any replica. */
  onDone?: (hour: Date) => void;
  /** Ends the schedule. A running publication finishes its page. */
  signal: AbortSignal;
}

const HOUR_MS = 3_600_000;
const PAGE = 500;
/** Key of an advisory lock that nothing else uses: "emit" as a number. */
const ADVISORY_LOCK = 0x656d6974;

/**
 * Signs the head of every log once an hour, changed or not, until `signal`. It checks each minute
 * whether the hour is done, which is cheap, so it also works right after a start and after the
 * database was away. It signs nothing for hours in which the service was down, because nobody saw
 * the heads then.
 */
export function startCheckpointPublisher(options: CheckpointPublisherOptions): Cron {
  let doneHour = 0;
  const job = new Cron("* * * * *", { protect: true, timezone: "UTC", unref: true }, async () => {
    const now = Date.now();
    const hour = now - (now % HOUR_MS);
    if (hour === doneHour || options.signal.aborted) return;
    try {
      if (!(await emitHour(options, new Date(hour)))) return;
      doneHour = hour;
      options.onDone?.(new Date(hour));
    } catch (error) {
      options.logger.warn(
        { reason: errorMessage(error) },
        "the hourly heads are delayed; trying again in a minute",
      );
    }
  });
  options.signal.addEventListener("abort", () => job.stop(), { once: true });
  void job.trigger();
  return job;
}

/**
 * Emits the heads that this hour still lacks. Resolves to whether all are done. One replica at a
 * time does this; the others find it done. A crash leaves the committed pages, and the next attempt
 * continues with the rest.
 */
export async function emitHour(options: CheckpointPublisherOptions, hour: Date): Promise<boolean> {
  return withSession(options.pool, async (session) => {
    const [lock] = await session.run<{ locked: boolean }>(LOCK, [ADVISORY_LOCK]);
    if (lock?.locked !== true) return false;
    try {
      return await emitPages(session, options, hour);
    } finally {
      // A broken connection has released its lock.
      await session.run(UNLOCK, [ADVISORY_LOCK]).catch(() => undefined);
    }
  });
}

const LOCK: PreparedQuery = { name: "checkpoint_lock", text: "select pg_try_advisory_lock($1) as locked" };
const UNLOCK: PreparedQuery = { name: "checkpoint_unlock", text: "select pg_advisory_unlock($1)" };

/**
 * One look for each log: with `not exists`, PostgreSQL may join with the heads of all logs, and
 * begin at the first of them for each page.
 */
const MISSING: PreparedQuery = {
  name: "checkpoint_missing",
  text: `select org_id, origin, tree_size, root_hash, clock_timestamp() as database_now from logs
    where org_id > $1
      and (select hour from log_emissions where log_emissions.org_id = logs.org_id and hour = $2::timestamptz) is null
    order by org_id limit $3`,
};

interface LogRow {
  org_id: string;
  origin: string;
  tree_size: number;
  root_hash: Buffer;
  database_now: Date;
}

async function emitPages(
  session: SqlSession,
  options: CheckpointPublisherOptions,
  hour: Date,
): Promise<boolean> {
  for (let after = ""; !options.signal.aborted;) {
    const asked_ms = Date.now();
    const page = await session.run<LogRow>(MISSING, [after, hour, PAGE]);
    for (const { database_now } of page) requireClocksAgree(database_now, asked_ms);
    const last = page.at(-1);
    if (last === undefined) return true;
    after = last.org_id;
    await emitPage(session, options, hour, page);
  }
  return false;
}

const INSERT: PreparedQuery = {
  name: "checkpoint_insert",
  text: `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint)
    select org_id, $2::timestamptz, $3::timestamptz, tree_size, substring($5::bytea from n::int * 32 - 31 for 32), checkpoint
    from unnest($1::text[], $4::bigint[], $6::text[]) with ordinality as heads (org_id, tree_size, checkpoint, n)
    on conflict do nothing`,
};

async function emitPage(
  session: SqlSession,
  { signer, logger }: CheckpointPublisherOptions,
  hour: Date,
  page: readonly LogRow[],
): Promise<void> {
  const now = new Date();
  const time_s = Math.floor(now.getTime() / 1000);
  const signed = await Promise.all(
    page.map(async (row) => {
      try {
        const head = { origin: row.origin, size: row.tree_size, rootHash: row.root_hash };
        return { row, checkpoint: await signer.signWithTime(head, time_s) };
      } catch (error) {
        if (!(error instanceof LogCorruption)) throw error;
        logger.error({ err: error, code: error.code, org_id: row.org_id }, "a head was not signed");
        return null;
      }
    }),
  );
  const heads = signed.filter((head) => head !== null);
  await session.run(INSERT, [
    plainArray(heads.map(({ row }) => row.org_id)),
    hour,
    now,
    plainArray(heads.map(({ row }) => row.tree_size)),
    packHashes(heads.map(({ row }) => row.root_hash)),
    heads.map(({ checkpoint }) => checkpoint),
  ]);
}
