const TIMESTAMP =
  /^(\d{4,6})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?$/i;
const DATE = /^\d{4,6}-\d\d-\d\d$/;

/** Microseconds since 1970 in UTC, or why a text is not such a moment. */
export type Moment = { readonly at_us: bigint } | { readonly problem: "no_zone" | "no_timestamp" };

/**
 * A moment as databases print it: `2026-11-21T09:30:00.123456+01:00`, `2026-11-21 09:30:00Z`.
 * Without a zone it may be a day off either way, so that it is none. Digits after the microsecond
 * are cut.
 */
export function parseTimestamp(text: string): Moment {
  const match = TIMESTAMP.exec(text);
  if (match === null) return { problem: DATE.test(text) ? "no_zone" : "no_timestamp" };
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "0", fraction = "", zone] =
    match;
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  at.setUTCHours(Number(hour), Number(minute), Number(second));
  // A date that there is not rolls over into another one.
  const isReal =
    at.getUTCMonth() === Number(month) - 1 &&
    at.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60;
  if (!isReal) return { problem: "no_timestamp" };
  if (zone === undefined) return { problem: "no_zone" };
  const offset_s = offsetOf(zone);
  if (offset_s === null) return { problem: "no_timestamp" };
  const micros = BigInt(fraction.padEnd(6, "0").slice(0, 6));
  return { at_us: (BigInt(at.getTime()) - BigInt(offset_s * 1000)) * 1000n + micros };
}

function offsetOf(zone: string): number | null {
  if (/^z$/i.test(zone)) return 0;
  const [hours = 0, minutes = 0, seconds = 0] = (zone.slice(1).match(/\d\d/g) ?? []).map(Number);
  if (hours > 24 || minutes > 59 || seconds > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds);
}
