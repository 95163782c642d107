const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const DAY = 24 * H;

/** Steps that people count durations in, in ms. */
const DURATION_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * S),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MIN),
  ...[1, 2, 3, 6, 12].map((n) => n * H),
];
const TIME_STEPS = [MIN, 5 * MIN, 15 * MIN, 30 * MIN, H, 3 * H, 6 * H, 12 * H];
const DAY_STEPS = [1, 2, 7, 14, 30, 90, 365];

/** Marks of an axis of durations, from 0 to the first at or above `max_ms`, in few steps. */
export function durationTicks(max_ms: number, most = 5): number[] {
  const step =
    DURATION_STEPS.find((size) => Math.ceil(max_ms / size) <= most) ?? Math.ceil(max_ms / most / DAY) * DAY;
  const steps = Math.max(1, Math.ceil(max_ms / step));
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
}

export interface TimeTicks {
  /** Times in ms since 1970, all within the axis. */
  at: number[];
  /** Whether they are midnights, so that their dates say all. */
  areDays: boolean;
  /** Whether their dates need the year. */
  areYears: boolean;
}

/** Marks of an axis of time, in the reader's time zone: whole days, or equal parts of one. */
export function timeTicks(from: number, to: number, most: number): TimeTicks {
  const step = TIME_STEPS.find((size) => (to - from) / size <= most);
  const at: number[] = [];
  const mark = new Date(from);
  mark.setHours(0, 0, 0, 0);
  if (step !== undefined) {
    for (let time = mark.getTime(); time <= to; time += step) if (time >= from) at.push(time);
    return { at, areDays: false, areYears: false };
  }
  const days =
    DAY_STEPS.find((count) => (to - from) / (count * DAY) <= most) ?? Math.ceil((to - from) / most / DAY);
  // By date: a day may have 23 hours.
  for (; mark.getTime() <= to; mark.setDate(mark.getDate() + days))
    if (mark.getTime() >= from) at.push(mark.getTime());
  return { at, areDays: true, areYears: to - from > 300 * DAY };
}

export interface PlacedMark {
  /** Which of the marks it is. */
  index: number;
  anchor: "middle" | "end";
}

/**
 * Which marks have room for a text of that width, and where it stands: in the middle below its
 * mark, or before the axis' right end. One that would cover the text before it is left out.
 */
export function placeMarks(xs: readonly number[], right: number, wide: number): PlacedMark[] {
  const placed: PlacedMark[] = [];
  let free = Number.NEGATIVE_INFINITY;
  for (const [index, x] of xs.entries()) {
    const anchor = x > right - wide / 2 ? "end" : "middle";
    const end = anchor === "end" ? x : x + wide / 2;
    if (end - wide < free) continue;
    placed.push({ index, anchor });
    free = end;
  }
  return placed;
}

/** The index of the value nearest to `wanted`; -1 of none. */
export function nearestIndex(values: readonly number[], wanted: number): number {
  let best = -1;
  for (const [index, value] of values.entries())
    if (best === -1 || Math.abs(value - wanted) <= Math.abs((values[best] ?? 0) - wanted)) best = index;
  return best;
}
