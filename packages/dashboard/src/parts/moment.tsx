import { formatMoment } from "../text/format.ts";

/** A time with its time zone. */
export function Moment({ at, timeZone }: { at: string; timeZone?: string }) {
  return <time dateTime={at}>{formatMoment(new Date(at), timeZone)}</time>;
}
