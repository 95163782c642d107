const MINUTE_S = 60;
const HOUR_S = 3600;

/**
 * Pauses after the first, second, … failed attempt, as Standard Webhooks recommends: ten attempts
 * in a little over three days.
 */
export const PAUSES_S = [
  5,
  5 * MINUTE_S,
  30 * MINUTE_S,
  2 * HOUR_S,
  5 * HOUR_S,
  10 * HOUR_S,
  14 * HOUR_S,
  20 * HOUR_S,
  24 * HOUR_S,
] as const;

/**
 * Seconds until the next attempt, or null if there is none. Up to a tenth longer at random, so that
 * messages which failed together do not come back together.
 */
export function pauseAfter(attempt: number, random: number = Math.random()): number | null {
  const pause = PAUSES_S[attempt - 1];
  return pause === undefined ? null : Math.round(pause * (1 + random / 10));
}
