import { numbered } from "@attestore/proof";

export { formatBytes } from "@attestore/proof";

/** Formats numbers and times for people, always with a unit. */

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

/** `3 days ago`, `in 20 min`, `just now`: in the largest unit, rounded down. */
export function formatAge(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `${oneUnit(seconds)} ago` : `in ${oneUnit(-seconds)}`;
}

function oneUnit(seconds: number): string {
  const s = Math.floor(seconds);
  if (s < MINUTE_S) return `${s} s`;
  if (s < HOUR_S) return `${Math.floor(s / MINUTE_S)} min`;
  return s < DAY_S ? `${Math.floor(s / HOUR_S)} h` : plural(Math.floor(s / DAY_S), "day");
}

/**
 * `21 Nov 2026, 09:00 (Europe/Berlin)`: in the reader's time zone by default. For what is read
 * alone: sentences, printed pages.
 */
export function formatMoment(at: Date, timeZone: string = localZone()): string {
  return `${formatTime(at, timeZone)} (${timeZone})`;
}

/** `21 Nov 2026, 09:00`, where the page says the zone once. */
export function formatTime(at: Date, timeZone: string = localZone()): string {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(at);
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `1 backup`, `3 backups`. */
export function plural(count: number | bigint, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${numbered(count, one, many)}`;
}
