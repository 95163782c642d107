import { InvalidArgumentError } from "commander";

const UNITS_S = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `90s`, `30m`, `12h` or `7d` in seconds, for an option. */
export function durationOption(text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined)
    throw new InvalidArgumentError("Write it as 30m, 12h or 7d.");
  return Number(digits) * UNITS_S[unit as keyof typeof UNITS_S];
}

/** A whole number from 1, for an option. */
export function countOption(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return Number(text);
}
