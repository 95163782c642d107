const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Near a change of the clocks, times are skipped or come twice, and crons disagree about which. */
const UNSURE_MS = 3 * HOUR_MS;

interface CronFields {
  minutes: number[];
  hours: number[];
  days: Set<number>;
  months: Set<number>;
  weekdays: Set<number>;
  /** If both days and weekdays are limited, one match is enough. */
  either: boolean;
}

/**
 * Returns the times that five cron fields name in a zone, from `from` up to but not including `to`
 * (milliseconds since 1970). Leaves out times within three hours of a change of the clocks. Throws
 * NotUnderstood for fields or zones that this code does not know.
 */
export function* cronTimes(pattern: string, zone: string, from: number, to: number): Generator<number> {
  const fields = parseCron(pattern);
  const clock = Clock.of(zone);
  if (fields === null || clock === null) throw new NotUnderstood(`${pattern} in ${zone}`);
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS - DAY_MS;
  for (let day = firstDay; day < to + DAY_MS; day += DAY_MS) {
    if (!isDayOf(fields, new Date(day))) continue;
    for (const hour of fields.hours)
      for (const minute of fields.minutes) {
        const time = clock.momentOf(day + hour * HOUR_MS + minute * MINUTE_MS);
        if (time !== null && time >= from && time < to) yield time;
      }
  }
}

/** Fields or a zone that only the service understands. */
export class NotUnderstood extends Error {}

function isDayOf({ days, months, weekdays, either }: CronFields, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false;
  const [ofMonth, ofWeek] = [days.has(day.getUTCDate()), weekdays.has(day.getUTCDay())];
  return either ? ofMonth || ofWeek : ofMonth && ofWeek;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Null for what is not understood. */
export function parseCron(pattern: string): CronFields | null {
  const [minute, hour, day, month, weekday, ...more] = pattern.toLowerCase().split(" ");
  if (minute === undefined || hour === undefined || day === undefined || more.length > 0) return null;
  if (month === undefined || weekday === undefined) return null;
  const isDayLimited = day !== "*";
  const isWeekdayLimited = weekday !== "*";
  // Crons disagree on whether "*/2" counts as a limit.
  if (isDayLimited && isWeekdayLimited && (day.startsWith("*") || weekday.startsWith("*"))) return null;
  const minutes = parseField(minute, 0, 59);
  const hours = parseField(hour, 0, 23);
  const days = parseField(day, 1, 31);
  const months = parseField(month, 1, 12, MONTHS, 1);
  const weekdays = parseField(weekday, 0, 7, WEEKDAYS, 0);
  if (minutes === null || hours === null || days === null || months === null || weekdays === null)
    return null;
  return {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((each) => each % 7)),
    either: isDayLimited && isWeekdayLimited,
  };
}

const PART = /^(?:(\*)|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:\/([0-9]{1,2}))?$/;

function parseField(
  field: string,
  lowest: number,
  highest: number,
  names: readonly string[] = [],
  firstName = 0,
): number[] | null {
  const values = new Set<number>();
  const numberOf = (text: string): number =>
    /^[0-9]/.test(text) ? Number(text) : names.indexOf(text) === -1 ? NaN : names.indexOf(text) + firstName;
  for (const part of field.split(",")) {
    const [, star, begin, end, step] = PART.exec(part) ?? [];
    if (star === undefined && begin === undefined) return null;
    // "5/15" without an end has two meanings.
    if (begin !== undefined && end === undefined && step !== undefined) return null;
    const low = begin === undefined ? lowest : numberOf(begin);
    const high = begin === undefined ? highest : end === undefined ? low : numberOf(end);
    const by = step === undefined ? 1 : Number(step);
    if (!(low >= lowest && high <= highest && low <= high && by >= 1)) return null;
    for (let value = low; value <= high; value += by) values.add(value);
  }
  return [...values].toSorted((a, b) => a - b);
}

/** The clocks of a zone. */
class Clock {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  private constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  static of(timeZone: string): Clock | null {
    try {
      return new Clock(
        new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset", hourCycle: "h23" }),
      );
    } catch {
      return null;
    }
  }

  /**
   * The moment at which the zone's clocks show `wall` (given as the moment at which UTC's clocks
   * do); null within three hours of a change of the clocks.
   */
  momentOf(wall: number): number | null {
    const moment = wall - this.#offsetAt(wall);
    const offset = this.#offsetAt(moment);
    const isSure =
      wall - offset === moment &&
      this.#offsetAt(moment - UNSURE_MS) === offset &&
      this.#offsetAt(moment + UNSURE_MS) === offset;
    return isSure ? moment : null;
  }

  /** Clocks change at quarters of an hour. */
  #offsetAt(moment: number): number {
    const quarter = Math.floor(moment / (15 * MINUTE_MS));
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const name = this.#format
      .formatToParts(new Date(quarter * 15 * MINUTE_MS))
      .find(({ type }) => type === "timeZoneName")?.value;
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name ?? "") ?? [];
    const offset = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
    const signed = sign === "-" ? -offset : offset;
    this.#offsets.set(quarter, signed);
    return signed;
  }
}
