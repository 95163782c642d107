import { randomBytes } from "node:crypto";

/** One share of a secret: any `threshold` of them restore it, fewer say nothing about it. */
export interface Share {
  /** 1 to 255: where the polynomials are evaluated. */
  readonly number: number;
  /** As long as the secret. */
  readonly bytes: Uint8Array;
}

export class ShareError extends Error {
  readonly code = "shares";
  constructor(message: string) {
    super(message);
    this.name = "ShareError";
  }
}

/**
 * Shamir's secret sharing, byte by byte, over GF(2^8) with the polynomial x^8+x^4+x^3+x^2+1
 * (0x11d), the one of libgfshare: Debian's `gfcombine` can join our shares without us.
 */
const EXP = new Uint8Array(510);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  EXP[power] = value;
  EXP[power + 255] = value;
  LOG[value] = power;
  value <<= 1;
  if (value > 0xff) value ^= 0x11d;
}

function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : (EXP[(LOG[a] ?? 0) + (LOG[b] ?? 0)] ?? 0);
}

function divide(a: number, b: number): number {
  return a === 0 ? 0 : (EXP[(LOG[a] ?? 0) + 255 - (LOG[b] ?? 0)] ?? 0);
}

/** @throws ShareError unless 2 <= threshold <= count <= 255 */
export function splitSecret(
  secret: Uint8Array,
  { count, threshold }: { readonly count: number; readonly threshold: number },
): Share[] {
  if (!(threshold >= 2 && threshold <= count && count <= 255))
    throw new ShareError(
      "a secret can be split into at most 255 shares, and the threshold must be between 2 and the number of shares",
    );
  // For each byte of the secret the other coefficients of its polynomial, highest first.
  const coefficients = randomBytes(secret.length * (threshold - 1));
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const bytes = secret.map((byte, at) => {
      let value = 0;
      for (let degree = 0; degree < threshold - 1; degree++)
        value = multiply(value, number) ^ (coefficients[at * (threshold - 1) + degree] ?? 0);
      return multiply(value, number) ^ byte;
    });
    return { number, bytes };
  });
}

/**
 * The secret from enough shares. Too few of them, or wrong ones, give a wrong secret; the caller
 * has a way to tell.
 * @throws ShareError if two are the same share, or their lengths differ
 */
export function combineShares(shares: readonly Share[]): Uint8Array {
  const [first] = shares;
  if (first === undefined) throw new ShareError("no share given");
  if (new Set(shares.map(({ number }) => number)).size !== shares.length)
    throw new ShareError("a share was given twice");
  if (shares.some(({ number }) => !(number >= 1 && number <= 255)))
    throw new ShareError("a share's number must be between 1 and 255");
  if (shares.some(({ bytes }) => bytes.length !== first.bytes.length))
    throw new ShareError("the shares differ in length, so they belong to different secrets");
  // Lagrange's weights at 0; subtraction is exclusive or.
  const weights = shares.map(({ number }) =>
    shares
      .filter((other) => other.number !== number)
      .reduce((weight, other) => multiply(weight, divide(other.number, other.number ^ number)), 1),
  );
  return first.bytes.map((_, at) =>
    shares.reduce((sum, { bytes }, index) => sum ^ multiply(bytes[at] ?? 0, weights[index] ?? 0), 0),
  );
}
