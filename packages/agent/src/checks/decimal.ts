const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,5}))?$/;
/** Beyond any number that a database counts or sums; it keeps 1e99999 from becoming a hundred thousand digits. */
const MAX_DIGITS = 1_000;

/** An exact decimal number: `digits` × 10^-`scale`. Counts beyond 2^53 compare as they are. */
export class Decimal {
  readonly #digits: bigint;
  readonly #scale: number;
  /** As it was written. */
  readonly text: string;

  private constructor(text: string, digits: bigint, scale: number) {
    this.text = text;
    this.#digits = digits;
    this.#scale = scale;
  }

  /** Null if it is no decimal number, or has more than a thousand digits. */
  static parse(text: string): Decimal | null {
    const [, sign, whole = "", fraction = "", exponent = "0"] =
      DECIMAL.exec(text.length <= MAX_DIGITS + 10 ? text : "x") ?? [];
    if (sign === undefined || whole + fraction === "") return null;
    const scale = fraction.length - Number(exponent);
    if (Math.abs(scale) > MAX_DIGITS || whole.length + fraction.length > MAX_DIGITS) return null;
    const digits = BigInt(whole + fraction);
    return new Decimal(text, sign === "-" ? -digits : digits, scale);
  }

  /** Negative, zero or positive, as this is below, at or above the other. */
  compare(other: Decimal): number {
    const scale = Math.max(this.#scale, other.#scale);
    const difference =
      this.#digits * 10n ** BigInt(scale - this.#scale) - other.#digits * 10n ** BigInt(scale - other.#scale);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }

  /** A JSON number if that says the same, else the text. */
  toJson(): number | string {
    const number = Number(this.text);
    const isExact = Number.isSafeInteger(number) || !Number.isInteger(number);
    return isExact && String(number) === this.text ? number : this.text;
  }
}
