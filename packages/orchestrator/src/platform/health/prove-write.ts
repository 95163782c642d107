import type { Pool } from "pg";
import { errorMessage } from "@attestore/host/errno";
import { asDatabaseUnavailable } from "../database/unavailable.ts";

/** A slower commit means that nobody would get an answer in time. */
const WITHIN_MS = 2_000;

/**
 * One transaction: reads whether the session may write, writes 1 MiB of temporary data, which needs
 * room on the disk and is removed with it, and puts an empty message into the write-ahead log. So
 * its commit waits for the disk, and for standbys if the service's commits do. No table grows, and
 * no lock is taken that another replica could wait for.
 */
const WRITE = `
  select current_setting('transaction_read_only') as read_only, clock_timestamp() as now, set_config('work_mem', '64kB', true);
  with blocks as materialized (select repeat('x', 1024) from generate_series(1, 1024)) select count(*) from blocks;
  select pg_logical_emit_message(true, 'attestore', '')`;

/** Null if times may be written down although the database's clock shows `now`. */
export type ClockTrouble = (now: Date, asked_ms: number) => string | null;

class CannotServe extends Error {}

/**
 * Proves that the database writes, by writing. Only one proof runs at a time, so a database that
 * commits nothing does not use up the pool's connections.
 * @returns null, or the reason why it does not
 */
export function writeProof(pool: Pool, clockTrouble: ClockTrouble): () => Promise<string | null> {
  let running: { since: number; reason: Promise<string | null> } | null = null;
  return async () => {
    running ??= {
      since: performance.now(),
      reason: write(pool, clockTrouble).finally(() => (running = null)),
    };
    const left_ms = running.since + WITHIN_MS - performance.now();
    return within(running.reason, left_ms);
  };
}

async function write(pool: Pool, clockTrouble: ClockTrouble): Promise<string | null> {
  try {
    const asked_ms = Date.now();
    const results = (await pool.query(WRITE)) as unknown as { rows: { read_only?: string; now?: Date }[] }[];
    const { read_only, now } = results[0]?.rows[0] ?? {};
    if (read_only !== "off") throw new CannotServe("The database is read-only.");
    return now === undefined ? null : clockTrouble(now, asked_ms);
  } catch (error) {
    if (error instanceof CannotServe) return error.message;
    return asDatabaseUnavailable(error)?.message ?? `The database cannot write (${errorMessage(error)}).`;
  }
}

async function within(reason: Promise<string | null>, left_ms: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(
      () => resolve("The database did not finish a write within two seconds."),
      Math.max(0, left_ms),
    );
  });
  try {
    return await Promise.race([reason, late]);
  } finally {
    clearTimeout(timer);
  }
}
