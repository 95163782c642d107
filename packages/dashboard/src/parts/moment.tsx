import { formatMoment } from "../text/format.ts";

/** A moment with its zone. */
export function Moment({ at, timeZone }: { at: string; timeZone?: string }) {
  return <time dateTime={at}>{formatMoment(new Date(at), timeZone)}</time>;
}
