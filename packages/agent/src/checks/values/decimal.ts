const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;
const ZERO = 0x30;

/**
 * An exact decimal number, never a double: counts beyond 2^53 and numeric(30,10) compare exactly.
 * It is `sign` × 0.DIGITS × 10^`exponent`, without leading or trailing zeros in `digits`, so
 * 1e999999999 takes no room.
 */
export interface Decimal {
  readonly sign: -1 | 0 | 1;
  readonly digits: string;
  readonly exponent: number;
}

/** A number in JSON's or SQL's form: `12`, `-0.50`, `.5`, `1e300`. Null for anything else. */
export function parseDecimal(text: string): Decimal | null {
  const [, sign, whole = "", fraction = "", power = "0"] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || whole + fraction === "") return null;
  const all = whole + fraction;
  // Loops, not /0+$/, which takes quadratic time over a long run of zeros.
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === ZERO) start++;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === ZERO) end--;
  if (start === end) return { sign: 0, digits: "", exponent: 0 };
  const exponent = whole.length - start + Number(power);
  return { sign: sign === "-" ? -1 : 1, digits: all.slice(start, end), exponent };
}

/** Negative, zero or positive, as `a` is below, at or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign;
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -a.sign : a.sign;
  if (a.digits === b.digits) return 0;
  // With one magnitude and no leading zeros, digits sort like their texts.
  return a.digits < b.digits ? -a.sign : a.sign;
}
