import { sql } from "kysely";
import type { Database } from "../database/schema.ts";

/** Hits of one bucket in the running window. */
export interface WindowCount {
  hits: number;
  /** Seconds until the window ends, at least 1. */
  resets_s: number;
}

/** Counts hits in fixed windows that start at whole multiples of their length. */
export interface RateLimitStore {
  add(bucket: string, window_s: number): Promise<WindowCount>;
  read(bucket: string, window_s: number): Promise<WindowCount>;
}

const MAX_BUCKETS = 200_000;

/** Each process's own counts. Forgotten at a restart. */
export class MemoryRateLimits implements RateLimitStore {
  readonly #counts = new Map<string, { start_s: number; hits: number }>();

  add(bucket: string, window_s: number): Promise<WindowCount> {
    return Promise.resolve(this.#count(bucket, window_s, 1));
  }

  read(bucket: string, window_s: number): Promise<WindowCount> {
    return Promise.resolve(this.#count(bucket, window_s, 0));
  }

  #count(bucket: string, window_s: number, more: number): WindowCount {
    const now_s = Date.now() / 1000;
    const start_s = Math.floor(now_s / window_s) * window_s;
    let count = this.#counts.get(bucket);
    if (count === undefined || count.start_s !== start_s) {
      // Emptying it all is rare and errs towards letting calls through; the limits that must hold are in the database.
      if (this.#counts.size >= MAX_BUCKETS) this.#counts.clear();
      count = { start_s, hits: 0 };
      this.#counts.set(bucket, count);
    }
    count.hits += more;
    return { hits: count.hits, resets_s: Math.max(1, Math.ceil(start_s + window_s - now_s)) };
  }
}

/** Counts that hold across replicas and restarts, by the database's clock. */
export class DatabaseRateLimits implements RateLimitStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async add(bucket: string, window_s: number): Promise<WindowCount> {
    const { rows } = await sql<WindowCount>`
      insert into rate_limits as counted (bucket, window_start, hits)
      values (${bucket}, ${windowStart(window_s)}, 1)
      on conflict (bucket, window_start) do update set hits = counted.hits + 1
      returning hits, ${resets(window_s)} as resets_s`.execute(this.#db);
    return counted(rows[0]);
  }

  async read(bucket: string, window_s: number): Promise<WindowCount> {
    const { rows } = await sql<WindowCount>`
      select coalesce(
          (select hits from rate_limits where bucket = ${bucket} and window_start = ${windowStart(window_s)}), 0
        ) as hits,
        ${resets(window_s)} as resets_s`.execute(this.#db);
    return counted(rows[0]);
  }
}

const windowStart = (window_s: number) =>
  sql`to_timestamp(floor(extract(epoch from statement_timestamp()) / ${window_s}::int) * ${window_s}::int)`;

const resets = (window_s: number) =>
  sql`greatest(1, ceil(${window_s}::int - mod(extract(epoch from statement_timestamp()), ${window_s}::int)))::int`;

function counted(row: WindowCount | undefined): WindowCount {
  if (row === undefined) throw new Error("counting for a rate limit gave no row");
  return row;
}

/** Removes windows that ended; for the service's housekeeping. Safe at any time and on several replicas at once. */
export async function removeEndedWindows(db: Database, longest_s: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("rate_limits")
    .where("window_start", "<", sql<Date>`now() - make_interval(secs => ${longest_s}::int)`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
