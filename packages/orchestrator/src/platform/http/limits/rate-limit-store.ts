import { sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { RateLimit } from "../route/rate-limits.ts";

/** Hits of one bucket in the running window. */
export interface WindowCount {
  hits: number;
  /** Seconds until the window ends, at least 1. */
  resets_s: number;
}

export type Window = Pick<RateLimit, "limit" | "window_s">;

/**
 * Counts hits in fixed windows that start at multiples of their length, by the database's clock.
 */
export interface RateLimitStore {
  add(bucket: string, limit: Window): Promise<WindowCount>;
  read(bucket: string, limit: Window): Promise<WindowCount>;
}

/** Records each hit. */
export class CountedRateLimits implements RateLimitStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async add(bucket: string, { window_s }: Window): Promise<WindowCount> {
    const { rows } = await sql<WindowCount>`
      insert into rate_limits as counted (bucket, window_start, hits)
      values (${bucket}, ${windowStart(window_s)}, 1)
      on conflict (bucket, window_start) do update set hits = counted.hits + 1
      returning hits, ${resets(window_s)} as resets_s`.execute(this.#db);
    return counted(rows[0]);
  }

  async read(bucket: string, { window_s }: Window): Promise<WindowCount> {
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
  if (row === undefined) throw new Error("counting for a rate limit returned no row");
  return row;
}
