import { sourceSettingsText } from "../../../text/source-settings.ts";
import { describeCron } from "./describe-cron.ts";

const text = sourceSettingsText.cron;

/** Five cron fields in words, or what is wrong with them. */
export type CronReading =
  | { is: "empty" }
  | { is: "words"; words: string; everyMinute: boolean }
  | { is: "wrong"; problem: string };

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Field {
  low: number;
  high: number;
  /** Names for the numbers; the first stands for `low`. */
  names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 7, names: DAYS },
];

/** The fields as sent: separated by single spaces, trimmed. */
export function tidyCron(text_: string): string {
  return text_.trim().replaceAll(/\s+/g, " ");
}

/**
 * Reads the typed fields to show at once what they mean. The service has the last word: it also
 * refuses well-formed fields that match no time, such as 31 February.
 */
export function readCron(typed: string): CronReading {
  const pattern = tidyCron(typed);
  if (pattern === "") return { is: "empty" };
  const fields = pattern.split(" ");
  if (fields.length !== FIELDS.length) return { is: "wrong", problem: text.count(fields.length) };
  for (const [index, field] of FIELDS.entries()) {
    const given = fields[index] ?? "";
    const why = problemOf(given, field);
    if (why !== null) return { is: "wrong", problem: text.field(text.names[index] ?? "", given, why) };
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = FIELDS.map((field, index) =>
    numbersOf(fields[index] ?? "", field),
  );
  const words = describeCron({
    minutes,
    hours,
    days: fields[2] === "*" ? null : days,
    months,
    weekdays: fields[4] === "*" ? null : sorted(weekdays.map((day) => (day === 0 ? 7 : day))),
  });
  return { is: "words", words, everyMinute: fields[0] === "*" && fields[1] === "*" };
}

/** Of a field without a problem. */
function numbersOf(given: string, field: Field): number[] {
  const { low, high } = field;
  return sorted(
    given
      .toLowerCase()
      .split(",")
      .flatMap((part) => {
        const [range = "", step] = part.split("/");
        const ends = range === "*" ? [low, high] : range.split("-").map((end) => valueOf(end, field) ?? low);
        // With a step, one number is where it begins.
        const [from = low, to = step === undefined ? from : high] = ends;
        const by = Number(step ?? 1);
        return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
      }),
  );
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

function problemOf(given: string, field: Field): string | null {
  for (const part of given.toLowerCase().split(",")) {
    const [range = "", step, ...more] = part.split("/");
    if (more.length > 0 || range === "") return text.unreadable;
    if (step !== undefined && !/^[1-9]\d*$/.test(step)) return text.step;
    if (range === "*") continue;
    const ends = range.split("-").map((end) => valueOf(end, field));
    if (ends.length > 2 || ends.includes(null)) return text.unreadable;
    const [from, to = from] = ends as number[];
    if (from === undefined || to === undefined) return text.unreadable;
    if (from < field.low || to > field.high || from > field.high) return text.range(field.low, field.high);
    if (to < from) return text.reversed;
  }
  return null;
}

function valueOf(text_: string, { low, names }: Field): number | null {
  if (/^\d+$/.test(text_)) return Number(text_);
  const index = names.indexOf(text_);
  return index === -1 ? null : low + index;
}
