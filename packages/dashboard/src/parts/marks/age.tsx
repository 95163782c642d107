import { useSyncExternalStore } from "react";
import { formatAge, formatMoment } from "../../text/format.ts";

/**
 * How long ago something happened, or how soon it will; the exact time on hover and for screen
 * readers.
 */
export function Age({ at, fallback = "never" }: { at: string | null | undefined; fallback?: string }) {
  const now = useNow();
  if (at === null || at === undefined) return <>{fallback}</>;
  const moment = new Date(at);
  const ahead_ms = moment.getTime() - now.getTime();
  return (
    <time dateTime={at} title={formatMoment(moment)}>
      {/* The clock stands still between ticks, so a record newer than the last tick counts as now. */}
      {formatAge(moment, ahead_ms > 0 && ahead_ms < EVERY_MS ? moment : now)}
    </time>
  );
}

const EVERY_MS = 15_000;

let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const readers = new Set<() => void>();

/** One clock for all ages, so that they change together. */
function subscribe(reader: () => void): () => void {
  if (readers.size === 0)
    timer = setInterval(() => {
      ticks += 1;
      for (const read of readers) read();
    }, EVERY_MS);
  readers.add(reader);
  return () => {
    readers.delete(reader);
    if (readers.size === 0) clearInterval(timer);
  };
}

/**
 * The current time, updated a few times a minute and on each new value, so that a new record is
 * never in the future.
 */
export function useNow(): Date {
  useSyncExternalStore(subscribe, () => ticks);
  return new Date();
}
