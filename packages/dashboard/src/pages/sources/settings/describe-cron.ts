/** The numbers that each of five cron fields stands for, ascending; 7 is Sunday, never 0. */
export interface CronSets {
  minutes: readonly number[];
  hours: readonly number[];
  /** Null for every day. */
  days: readonly number[] | null;
  months: readonly number[];
  /** Null for every day. */
  weekdays: readonly number[] | null;
}

const MONTHS = Array.from({ length: 12 }, (_, month) => nameOf({ month: "long" }, Date.UTC(2024, month)));
/** The first of January 2024 was a Monday. */
const WEEKDAYS = Array.from({ length: 7 }, (_, day) =>
  nameOf({ weekday: "long" }, Date.UTC(2024, 0, 1 + day)),
);
/** More times than that are told as a rule. */
const TIMES_LISTED = 6;

/** `At 02:30, every day`, `Every 15 minutes from 09:00 to 17:59, Monday through Friday`. */
export function describeCron({ minutes, hours, days, months, weekdays }: CronSets): string {
  return [
    timesOf(minutes, hours),
    daysOf(days, weekdays),
    ...(months.length === 12 ? [] : [someOf(months, (month) => MONTHS[month - 1] ?? "", "in ")]),
  ].join(", ");
}

function timesOf(minutes: readonly number[], hours: readonly number[]): string {
  if (minutes.length * hours.length <= TIMES_LISTED)
    return `At ${listOf(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))}`;
  const when =
    hours.length === 24 ? "" : isRun(hours) ? ` ${spanOf(hours)}` : ` in the hours ${listOf(hours)}`;
  if (minutes.length === 60) return `Every minute${when}`;
  const [first = 0, second = 60] = minutes;
  const step = second - first;
  const isEven = first === 0 && 60 % step === 0 && minutes.length === 60 / step;
  if (isEven) return minutes.length === 1 ? `Every hour, on the hour${when}` : `Every ${step} minutes${when}`;
  return `At minute ${listOf(minutes)} of every hour${when}`;
}

function spanOf(hours: readonly number[]): string {
  return `from ${two(hours[0] ?? 0)}:00 to ${two(hours.at(-1) ?? 0)}:59`;
}

/** If both are limited, a day that one of them names is enough. */
function daysOf(days: CronSets["days"], weekdays: CronSets["weekdays"]): string {
  const ofMonth = days === null ? null : `on day ${someOf(days, String)} of the month`;
  const ofWeek = weekdays === null ? null : someOf(weekdays, (day) => WEEKDAYS[day - 1] ?? "");
  if (ofMonth !== null && ofWeek !== null) return `${ofMonth} or on ${ofWeek}`;
  if (ofWeek !== null) return (weekdays?.length ?? 0) < 3 ? `only on ${ofWeek}` : ofWeek;
  return ofMonth ?? "every day";
}

/** `1 through 5` for a run of three or more, else a list. */
function someOf(numbers: readonly number[], name: (number: number) => string, before = ""): string {
  const [first = 0] = numbers;
  return numbers.length > 2 && isRun(numbers)
    ? `${name(first)} through ${name(numbers.at(-1) ?? 0)}`
    : before + listOf(numbers.map(name));
}

function isRun(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => number === (numbers[0] ?? 0) + index);
}

function listOf(items: readonly (string | number)[]): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? String(last) : `${items.slice(0, -1).join(", ")} and ${last}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function nameOf(format: Intl.DateTimeFormatOptions, at: number): string {
  return new Intl.DateTimeFormat("en-GB", { ...format, timeZone: "UTC" }).format(at);
}
