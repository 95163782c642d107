/** One limit: `limit` hits in a fixed window of `window_s` seconds. */
export interface RateLimit {
  limit: number;
  window_s: number;
  /** Whose calls are counted together. */
  per: "address" | "credential";
  /** Every call, or only those that end in 401 or 403. */
  counts: "calls" | "failures";
  /** `database` holds across replicas and restarts; `memory` is each process's own count and costs nothing. */
  kept: "database" | "memory";
}

export type RateLimitName = "attach_failures" | "bootstrap_start" | "default";
export type RateLimitTable = Readonly<Record<RateLimitName, RateLimit>>;

/** The limits of the service (contract, sections 5 and 6). A heartbeat names none. */
export const RATE_LIMITS: RateLimitTable = {
  attach_failures: { limit: 30, window_s: 3600, per: "address", counts: "failures", kept: "database" },
  bootstrap_start: { limit: 30, window_s: 3600, per: "address", counts: "calls", kept: "database" },
  default: { limit: 600, window_s: 60, per: "credential", counts: "calls", kept: "memory" },
};
