import { useEffect, useState } from "react";
import { formatAge, formatMoment } from "../text/format.ts";

/** How long ago something was, or how soon it will be; the moment itself on hover and for screen readers. */
export function Age({ at, fallback = "never" }: { at: string | null | undefined; fallback?: string }) {
  const now = useNow();
  if (at === null || at === undefined) return <>{fallback}</>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={formatMoment(moment)}>
      {formatAge(moment, now)}
    </time>
  );
}

const EVERY_MS = 15_000;

/** The time, a few times a minute. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
