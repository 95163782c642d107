import type { RateLimitStore, Window, WindowCount } from "./rate-limit-store.ts";

const MAX_BUCKETS = 200_000;

/** Counts hits in this process, and so costs nothing: each replica lets the whole limit through. */
export class ProcessRateLimits implements RateLimitStore {
  readonly #buckets = new Map<string, { hits: number; ends: number }>();

  add(bucket: string, limit: Window): Promise<WindowCount> {
    let found = this.#running(bucket);
    if (found === null) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#buckets.clear();
      found = { hits: 0, ends: performance.now() + limit.window_s * 1000 };
      this.#buckets.set(bucket, found);
    }
    found.hits += 1;
    return Promise.resolve(countOf(found));
  }

  read(bucket: string, limit: Window): Promise<WindowCount> {
    const found = this.#running(bucket);
    return Promise.resolve(found === null ? { hits: 0, resets_s: limit.window_s } : countOf(found));
  }

  #running(bucket: string): { hits: number; ends: number } | null {
    const found = this.#buckets.get(bucket);
    return found === undefined || found.ends <= performance.now() ? null : found;
  }
}

function countOf({ hits, ends }: { hits: number; ends: number }): WindowCount {
  return { hits, resets_s: Math.max(1, Math.ceil((ends - performance.now()) / 1000)) };
}
