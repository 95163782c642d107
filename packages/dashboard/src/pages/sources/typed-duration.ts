import { plural } from "../../text/format.ts";

/** A duration as typed: a number, and its unit in seconds. */
export interface TypedDuration {
  amount: string;
  unit: string;
}

export const UNITS = ["60", "3600", "86400"] as const;
const MAX_S = 10 * 365 * 86_400;

/** Splits seconds into a whole number of the largest possible unit. */
export function typedDuration(seconds: number | undefined): TypedDuration {
  if (seconds === undefined) return { amount: "", unit: "3600" };
  const unit = UNITS.findLast((size) => seconds % Number(size) === 0);
  if (unit !== undefined) return { amount: String(seconds / Number(unit)), unit };
  // The API takes seconds, so opening and saving the editor must not round them.
  return { amount: String(seconds / 60), unit: "60" };
}

const WORDS: Readonly<Record<string, string>> = { "60": "minute", "3600": "hour", "86400": "day" };

/** `26 hours`, `2 minutes`: an objective is shown as it was set, never rounded. */
export function exactDuration(seconds: number): string {
  const unit = UNITS.findLast((size) => seconds % Number(size) === 0);
  return unit === undefined ? plural(seconds, "second") : plural(seconds / Number(unit), WORDS[unit] ?? "");
}

/** Seconds; undefined if empty, null if invalid. */
export function readDuration({ amount, unit }: TypedDuration): number | undefined | null {
  const text = amount.trim();
  if (text === "") return undefined;
  if (!/^\d{1,9}(\.\d+)?$/.test(text)) return null;
  const seconds = Math.round(Number(text) * Number(unit));
  return seconds >= 1 && seconds <= MAX_S ? seconds : null;
}
