import { formatMoment, formatTime } from "../../text/format.ts";

/**
 * A time. Its zone is in the tooltip, because the navigation says it once for all pages. It is also
 * in the text if another zone is asked for, or with `withZone`, for what is printed or has no
 * navigation.
 */
export function Moment({ at, timeZone, withZone }: { at: string; timeZone?: string; withZone?: boolean }) {
  const moment = new Date(at);
  const full = formatMoment(moment, timeZone);
  return (
    <time dateTime={at} title={full}>
      {withZone === true || timeZone !== undefined ? full : formatTime(moment)}
    </time>
  );
}
