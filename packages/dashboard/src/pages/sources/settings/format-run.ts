import { formatMoment } from "../../../text/format.ts";

/**
 * `Sun, 29 Mar 2026, 03:00 (Europe/Berlin, UTC+02:00)`: with the weekday and the zone's UTC offset
 * at that time.
 */
export function formatRun(at: Date, timeZone: string): string {
  const weekday = new Intl.DateTimeFormat("en-GB", { timeZone, weekday: "short" }).format(at);
  const offset = offsetOf(at, timeZone);
  const moment = formatMoment(at, timeZone);
  return `${weekday}, ${offset === null ? moment : moment.replace(/\)$/, `, ${offset})`)}`;
}

/** Null if the zone's name already says it. */
function offsetOf(at: Date, timeZone: string): string | null {
  if (timeZone === "UTC") return null;
  const name = new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "longOffset" })
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName")?.value;
  return name === undefined ? null : name === "GMT" ? "UTC+00:00" : name.replace("GMT", "UTC");
}
