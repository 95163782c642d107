import { dayOf } from "../../text/days.ts";
import { evidence } from "../../text/evidence.ts";

export interface Days {
  first: string;
  last: string;
}

export type Preset = "month" | "quarter" | "lastQuarter" | "year";

const DAY_MS = 86_400_000;

/** Common periods in UTC days; none ends after today. */
export function presetDays(preset: Preset, now: Date): Days {
  const year = now.getUTCFullYear();
  const quarter = Math.floor(now.getUTCMonth() / 3);
  const today = dayOf(now);
  switch (preset) {
    case "month":
      return { first: dayOf(new Date(now.getTime() - 29 * DAY_MS)), last: today };
    case "quarter":
      return { first: dayOf(new Date(Date.UTC(year, quarter * 3, 1))), last: today };
    case "lastQuarter":
      return {
        first: dayOf(new Date(Date.UTC(year, quarter * 3 - 3, 1))),
        last: dayOf(new Date(Date.UTC(year, quarter * 3, 0))),
      };
    case "year":
      return { first: dayOf(new Date(Date.UTC(year, 0, 1))), last: today };
  }
}

export const PRESETS = (["month", "quarter", "lastQuarter", "year"] as const).map((value) => ({
  value,
  label: evidence.period[value],
}));
