import { sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { CountedRateLimits, type RateLimitStore, type Window, type WindowCount } from "./rate-limit-store.ts";

const MAX_BUCKETS = 200_000;
const MOST_AT_ONCE = 16;
/**
 * A reservation takes at most this share of the remaining hits, so near the limit hits are taken
 * one by one.
 */
const PART_OF_REST = 20;

/** The state of one bucket in one window. */
interface Bucket {
  /** When the window ends at the latest, by `performance.now()`. */
  ends_ms: number;
  /** Hits of all replicas, as of the last reservation. */
  total: number;
  /** How many of them this replica has reserved and not used. */
  left: number;
  /** The size of the last reservation. */
  reserved: number;
}

interface Waiting {
  limit: Window;
  done: ((count: WindowCount) => void)[];
  failed: ((error: unknown) => void)[];
}

/**
 * Reserves hits in the bucket's row and uses them here. Reserved hits count, so all replicas
 * together never let more than the limit through; a hit that one has reserved and not used is lost
 * to the others. Reservations grow with use: 1, 2, 4 … 16, and shrink near the limit. Requests made
 * while one is on its way go together in one statement.
 */
export class ReservedRateLimits implements RateLimitStore {
  readonly #db: Database;
  readonly #rows: CountedRateLimits;
  readonly #buckets = new Map<string, Bucket>();
  #waiting = new Map<string, Waiting>();
  #reserving = false;

  constructor(db: Database) {
    this.#db = db;
    this.#rows = new CountedRateLimits(db);
  }

  add(bucket: string, limit: Window): Promise<WindowCount> {
    const known = this.#running(bucket);
    if (known !== null && known.left > 0) {
      known.left -= 1;
      return Promise.resolve(countOf(known));
    }
    // Hits of a window only grow: once over the limit, it stays so.
    if (known !== null && known.total >= limit.limit)
      return Promise.resolve({ ...countOf(known), hits: known.total + 1 });
    return new Promise((done, failed) => {
      const waiting = this.#waiting.get(bucket);
      if (waiting === undefined) this.#waiting.set(bucket, { limit, done: [done], failed: [failed] });
      else {
        waiting.done.push(done);
        waiting.failed.push(failed);
      }
      void this.#reserve();
    });
  }

  /** This replica's own state, or otherwise the row; reserved hits count as hits. */
  read(bucket: string, limit: Window): Promise<WindowCount> {
    const known = this.#running(bucket);
    return known === null ? this.#rows.read(bucket, limit) : Promise.resolve(countOf(known));
  }

  #running(bucket: string): Bucket | null {
    const known = this.#buckets.get(bucket);
    return known === undefined || known.ends_ms <= performance.now() ? null : known;
  }

  /** One statement at a time; never rejects. */
  async #reserve(): Promise<void> {
    if (this.#reserving) return;
    this.#reserving = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].map(([bucket, waiting]) => ({
        bucket,
        ...waiting,
        wanted: this.#wanted(bucket, waiting),
      }));
      this.#waiting = new Map();
      const askedAt_ms = performance.now();
      try {
        const rows = await reserveHits(this.#db, batch);
        for (const { bucket, wanted, done } of batch) {
          const row = rows.get(bucket);
          if (row === undefined) throw new Error("a reservation of a rate limit returned no row");
          this.#take(bucket, { wanted, done, ...row, ends_ms: askedAt_ms + row.rest_ms });
        }
      } catch (error) {
        for (const { failed } of batch) for (const fail of failed) fail(error);
      }
    }
    this.#reserving = false;
  }

  #wanted(bucket: string, { limit, done }: Waiting): number {
    const known = this.#running(bucket);
    const grown = known === null ? 1 : Math.min(MOST_AT_ONCE, known.reserved * 2);
    const rest = limit.limit - (known?.total ?? 0);
    return Math.max(done.length, Math.min(grown, Math.floor(rest / PART_OF_REST)));
  }

  #take(
    bucket: string,
    taken: {
      wanted: number;
      total: number;
      ends_ms: number;
      done: readonly ((count: WindowCount) => void)[];
    },
  ): void {
    const { wanted, total, ends_ms, done } = taken;
    const before = this.#running(bucket);
    // Emptied instead of evicting one by one: callers lose their reserved hits, and the limit still
    // holds.
    if (this.#buckets.size >= MAX_BUCKETS) this.#buckets.clear();
    const known = { ends_ms, total, left: wanted + (before?.left ?? 0), reserved: wanted };
    this.#buckets.set(bucket, known);
    for (const answer of done) {
      known.left -= 1;
      answer(countOf(known));
    }
  }
}

function countOf({ total, left, ends_ms }: Bucket): WindowCount {
  return { hits: total - left, resets_s: Math.max(1, Math.ceil((ends_ms - performance.now()) / 1000)) };
}

interface Reservation {
  total: number;
  /** Until the window ends, counted from before the statement was sent, so never too long. */
  rest_ms: number;
}

/**
 * Adds hits to rows, in one statement. It does not wait for the disk: a crash of the database's
 * machine may forget the hits of its last moments, which a limit over a minute can bear. The rows
 * are taken in order, so two replicas never wait for each other.
 */
async function reserveHits(
  db: Database,
  batch: readonly { bucket: string; limit: Window; wanted: number }[],
): Promise<Map<string, Reservation>> {
  const ordered = [...batch].sort((a, b) => (a.bucket < b.bucket ? -1 : 1));
  const buckets = ordered.map(({ bucket }) => bucket);
  const windows = ordered.map(({ limit }) => limit.window_s);
  const hits = ordered.map(({ wanted }) => wanted);
  const { rows } = await sql<{ bucket: string; total: number; rest_ms: number }>`
    with relaxed as materialized (select set_config('synchronous_commit', 'off', true)),
    asked as materialized (
      select bucket, window_s, hits, extract(epoch from statement_timestamp()) as now_s
      from unnest(${buckets}::text[], ${windows}::int[], ${hits}::int[]) as asked (bucket, window_s, hits), relaxed
      order by bucket),
    counted as (
      insert into rate_limits as counted (bucket, window_start, hits)
      select bucket, to_timestamp(floor(now_s / window_s) * window_s), hits from asked order by bucket
      on conflict (bucket, window_start) do update set hits = counted.hits + excluded.hits
      returning counted.bucket, counted.hits)
    select bucket, counted.hits as total, floor((window_s - mod(now_s, window_s)) * 1000)::bigint as rest_ms
    from counted join asked using (bucket)`.execute(db);
  return new Map(rows.map(({ bucket, ...row }) => [bucket, row]));
}
