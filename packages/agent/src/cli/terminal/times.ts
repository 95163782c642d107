/** Formats durations and moments for people. */

/** `850 ms`, `12 s`, `3 min`, `5 h`, `9 days`. */
export function formatDuration(duration_ms: number): string {
  const steps: readonly [limit: number, unit: string, length_ms: number][] = [
    [1_000, "ms", 1],
    [120_000, "s", 1_000],
    [7_200_000, "min", 60_000],
    [172_800_000, "h", 3_600_000],
    [Infinity, "days", 86_400_000],
  ];
  const step = steps.find(([limit]) => Math.abs(duration_ms) < limit);
  return step === undefined ? "" : `${Math.round(duration_ms / step[2])} ${step[1]}`;
}

/**
 * Formats how long ago a time was: `3 h ago`, or `just now` for under two seconds or a time in the
 * future.
 */
export function formatAge(timestamp: string, now = Date.now()): string {
  const age_ms = now - Date.parse(timestamp);
  if (Number.isNaN(age_ms)) return "at an unknown time";
  return age_ms < 2_000 ? "just now" : `${formatDuration(age_ms)} ago`;
}
