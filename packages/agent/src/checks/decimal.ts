const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,5}))?$/;
/** Beyond any number that a database counts or sums; it keeps 1e99999 from becoming a hundred thousand digits. */
const MAX_DIGITS = 1_000;

/** An exact decimal number, `digits` × 10^-`scale`: counts beyond 2^53 compare as they are. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Null for what is no decimal number, and for one of more than a thousand digits. */
export function parseDecimal(text: string): Decimal | null {
  const match = text.length > MAX_DIGITS + 10 ? null : DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  if (whole + fraction === "") return null;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > MAX_DIGITS || whole.length + fraction.length > MAX_DIGITS) return null;
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, scale };
}

/** Negative, zero or positive, as `a` is below, at or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = a.digits * 10n ** BigInt(scale - a.scale) - b.digits * 10n ** BigInt(scale - b.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
