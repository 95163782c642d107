import { numbered } from "@attestore/proof";

/** Formats numbers and times for people, always with a unit or time zone. */

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** `1.50 GiB`; three significant digits. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < SIZES.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return `${size.toFixed(digits)} ${SIZES[unit] ?? ""}`;
}

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

/** `42 s`, `12 min`, `3 h 20 min`, `9 days`: the two largest units at most. */
export function formatDuration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < MINUTE_S) return `${s} s`;
  if (s < HOUR_S) return two(Math.floor(s / MINUTE_S), "min", s % MINUTE_S, "s", 10);
  if (s < DAY_S) return two(Math.floor(s / HOUR_S), "h", Math.floor((s % HOUR_S) / MINUTE_S), "min", 10);
  const days = Math.floor(s / DAY_S);
  return plural(days, "day");
}

/** Shows the small unit only if the large count is below `upTo`. */
function two(large: number, unit: string, small: number, smallUnit: string, upTo: number): string {
  return small === 0 || large >= upTo ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** `420 ms`, `2.4 s`, then as formatDuration. */
export function formatMilliseconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms / 1000);
}

/** `3 days ago`, `in 20 min`, `just now`. */
export function formatAge(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `${formatDuration(seconds)} ago` : `in ${formatDuration(-seconds)}`;
}

/**
 * `21 Nov 2026, 09:00 (Europe/Berlin)`: in the reader's time zone by default; the zone is always
 * named.
 */
export function formatMoment(at: Date, timeZone: string = localZone()): string {
  const text = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(at);
  return `${text} (${timeZone})`;
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `1 backup`, `3 backups`. */
export function plural(count: number | bigint, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${numbered(count, one, many)}`;
}
