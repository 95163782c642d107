import type { ColumnProfile } from "@attestore/proof";
import { DistinctEstimate } from "./distinct-estimate.ts";
import { entropyOf, LOOKED_AT, looksRandom, looksRandomBytes } from "./looks-random.ts";
import { rate } from "./rate.ts";

/** With fewer rows, a rate could say something about one of them: nothing is signed then. */
export const MIN_ROWS = 50;
/** How many times are newer than the one whose day is signed. */
export const NEWER = 10;
const DAY_MS = 24 * 3600 * 1000;

/** The part of one value in a profile. */
export interface Measured {
  /** For counting different ones; absent if nobody looks at it. */
  readonly value?: string;
  /** Absent if it is not a text. */
  readonly text?: { readonly bytes: number; readonly entropy: number; readonly isRandom: boolean };
  /** Milliseconds since 1970; absent if it is not a time. */
  readonly at_ms?: number;
}

/** `value` is the start of a text of `bytes` bytes. */
export function measureText(value: string, bytes: number): Measured {
  const start = value.slice(0, LOOKED_AT);
  return { value, text: { bytes, entropy: entropyOf(start), isRandom: looksRandom(start) } };
}

/** The start of a string of `bytes` bytes, in hex. */
export function measureBytes(hex: string, bytes: number): Measured {
  const start = Buffer.from(hex.slice(0, 2 * LOOKED_AT), "hex").toString("latin1");
  return { value: hex, text: { bytes, entropy: entropyOf(start), isRandom: looksRandomBytes(hex) } };
}

/** Counts a column's values in bounded memory. */
export class ColumnProfiler {
  readonly #name: string;
  readonly #distinct: DistinctEstimate;
  #rows = 0;
  #values = 0;
  #seen = 0;
  #texts = 0;
  #random = 0;
  #logLength = 0;
  #entropy = 0;
  /** The newest, sorted. */
  readonly #newest: number[] = [];

  constructor(name: string, seed: number) {
    this.#name = name;
    this.#distinct = new DistinctEstimate(seed);
  }

  /** Null for a row without a value. */
  add(measured: Measured | null): void {
    this.#rows += 1;
    if (measured === null) return;
    this.#values += 1;
    const { value, text, at_ms } = measured;
    if (value !== undefined) {
      this.#seen += 1;
      this.#distinct.add(value);
    }
    if (text !== undefined) {
      this.#texts += 1;
      this.#logLength += Math.log1p(text.bytes);
      this.#entropy += text.entropy;
      if (text.isRandom) this.#random += 1;
    }
    if (at_ms === undefined || !Number.isFinite(at_ms)) return;
    const newest = this.#newest;
    if (newest.length > NEWER && at_ms <= (newest[0] ?? at_ms)) return;
    const isSorted = at_ms >= (newest.at(-1) ?? at_ms);
    newest.push(at_ms);
    if (!isSorted) newest.sort((a, b) => a - b);
    if (newest.length > NEWER + 1) newest.shift();
  }

  /** Null with too few rows. */
  end(): ColumnProfile | null {
    const [oldestOfNewest] = this.#newest;
    return columnProfile({
      name: this.#name,
      rows: this.#rows,
      values: this.#values,
      seen: this.#seen,
      distinct: this.#distinct.count,
      texts: this.#texts,
      random: this.#random,
      logLength: this.#logLength,
      entropy: this.#entropy,
      newest_ms: this.#newest.length <= NEWER ? undefined : oldestOfNewest,
    });
  }
}

export interface CountedColumn {
  readonly name: string;
  readonly rows: number;
  /** Rows with a value. */
  readonly values: number;
  /** Values of which the different ones were counted, and the number of different ones. */
  readonly seen: number;
  readonly distinct: number;
  readonly texts: number;
  readonly random: number;
  /** Sums over all texts: of log(1 + bytes), and of bits in a character. */
  readonly logLength: number;
  readonly entropy: number;
  /** Milliseconds since 1970; ten times are as new or newer. Absent if there are fewer. */
  readonly newest_ms: number | undefined;
}

/** Null with too few rows. */
export function columnProfile(counted: CountedColumn): ColumnProfile | null {
  const { name, rows, values, seen, texts, newest_ms } = counted;
  if (rows < MIN_ROWS) return null;
  const nulls = rate(rows - values, rows);
  if (values < MIN_ROWS) return { name, nulls };
  return {
    name,
    nulls,
    ...(seen < MIN_ROWS ? {} : { distinct: rate(Math.min(seen, counted.distinct), seen) }),
    ...(texts < MIN_ROWS
      ? {}
      : {
          length: Math.round(Math.expm1(counted.logLength / texts)),
          entropy: Math.round((100 * counted.entropy) / texts),
          random: rate(counted.random, texts),
        }),
    ...(newest_ms === undefined || !isDate(newest_ms)
      ? {}
      : { newest: new Date(newest_ms).toISOString().slice(0, 10) }),
  };
}

function isDate(at_ms: number): boolean {
  return at_ms > -62_135_596_800_000 + DAY_MS && at_ms < 253_402_300_800_000;
}
