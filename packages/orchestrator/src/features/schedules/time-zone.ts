const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * By the zone's name in capitals: case makes no difference to a zone, and each formatter takes 30
 * KB.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the IANA database has a zone of this name. */
export function isTimeZone(name: string): boolean {
  // No offset, which JavaScript also accepts as a zone, and no letters whose capitals are those of
  // A-Z, such as ſ.
  if (!/^[A-Za-z][A-Za-z0-9_/+-]*$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * The local time of the zone at that moment, as the moment at which clocks in UTC show it.
 * @throws RangeError for a zone that does not exist
 */
export function wallClock(zone: string, at: Date): Date {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const year = parts["era"] === "BC" ? 1 - Number(parts["year"]) : Number(parts["year"]);
  const [month, day] = [Number(parts["month"]), Number(parts["day"])];
  const [hour, minute, second] = [Number(parts["hour"]), Number(parts["minute"]), Number(parts["second"])];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, at.getUTCMilliseconds()));
}

function offsetMs(zone: string, at: number): number {
  return wallClock(zone, new Date(at)).getTime() - at;
}

/** A clock change: at that moment clocks go from `from` to `to` (in wallClock's terms). */
export interface ClockChange {
  at: Date;
  from: Date;
  to: Date;
}

/**
 * The first time after `start`, up to `end`, that clocks go forward, so that some times of that day
 * don't exist.
 */
export function nextGap(zone: string, start: Date, end: Date): ClockChange | null {
  for (let year = start.getUTCFullYear(); year <= end.getUTCFullYear(); year += 1) {
    const gap = changesOfYear(zone, year).find(({ at, from, to }) => to > from && at > start && at <= end);
    if (gap !== undefined) return gap;
  }
  return null;
}

/** Every clock change after `start`, up to `end`, forward or back. */
export function clockChanges(zone: string, start: Date, end: Date): ClockChange[] {
  const changes: ClockChange[] = [];
  for (let year = start.getUTCFullYear(); year <= end.getUTCFullYear(); year += 1)
    changes.push(...changesOfYear(zone, year).filter(({ at }) => at > start && at <= end));
  return changes;
}

/**
 * By zone and UTC year: looking at each of its days takes milliseconds, and the result never
 * changes.
 */
const years = new Map<string, readonly ClockChange[]>();
const MAX_YEARS = 10_000;

function changesOfYear(zone: string, year: number): readonly ClockChange[] {
  const name = `${zone.toUpperCase()} ${year}`;
  const known = years.get(name);
  if (known !== undefined) return known;
  if (years.size >= MAX_YEARS) years.clear();
  const found = findChanges(zone, new Date(Date.UTC(year, 0, 1)), new Date(Date.UTC(year + 1, 0, 1)));
  years.set(name, found);
  return found;
}

function findChanges(zone: string, start: Date, end: Date): ClockChange[] {
  const changes: ClockChange[] = [];
  const last = end.getTime();
  let before = start.getTime();
  let offset = offsetMs(zone, before);
  while (before < last) {
    const after = Math.min(before + DAY_MS, last);
    const offsetAfter = offsetMs(zone, after);
    if (offsetAfter !== offset) changes.push(changeBetween(zone, before, after, offset));
    [before, offset] = [after, offsetAfter];
  }
  return changes;
}

/**
 * Whether clocks of the zone will show this time once more on that day, because they go back in
 * between.
 */
export function isShownAgain(zone: string, at: Date): boolean {
  const now = at.getTime();
  const back_ms = offsetMs(zone, now) - offsetMs(zone, now + DAY_MS);
  return back_ms > 0 && isRepeated(zone, new Date(now + back_ms));
}

/**
 * Whether clocks of the zone have shown this time before on that day, because they went back in
 * between.
 */
export function isRepeated(zone: string, at: Date): boolean {
  const now = at.getTime();
  const offset = offsetMs(zone, now);
  const offsetBefore = offsetMs(zone, now - DAY_MS);
  return offsetBefore > offset && offsetMs(zone, now - (offsetBefore - offset)) === offsetBefore;
}

/** Clocks change at whole minutes. */
function changeBetween(zone: string, before: number, after: number, offset: number): ClockChange {
  let [low, high] = [Math.floor(before / MINUTE_MS), Math.ceil(after / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * MINUTE_MS) !== offset) high = middle;
    else low = middle;
  }
  const at = high * MINUTE_MS;
  return { at: new Date(at), from: new Date(at + offset), to: new Date(at + offsetMs(zone, at)) };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const name = zone.toUpperCase();
  let format = formats.get(name);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(name, format);
  }
  return format;
}
