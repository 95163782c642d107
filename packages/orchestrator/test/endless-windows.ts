import {
  RATE_LIMITS,
  type RateLimitName,
  type RateLimitTable,
} from "../src/platform/http/route/rate-limits.ts";

/**
 * Windows begin at whole multiples of their length: this one in 1970, and it ends in 2033. No test
 * sees the end of one and a new count.
 */
export const ENDLESS_S = 2_000_000_000;

/** The service's limits of these names, in a window that does not end. */
export function endless(...names: RateLimitName[]): Partial<RateLimitTable> {
  return Object.fromEntries(names.map((name) => [name, { ...RATE_LIMITS[name], window_s: ENDLESS_S }]));
}
