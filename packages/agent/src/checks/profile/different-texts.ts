import { entropyOf, LOOKED_AT, looksRandom, looksRandomBytes } from "./looks-random.ts";

/** This many different texts are all looked at. */
const ALL_OF = 1_024;
/** One in this many of the further ones is, where that is enough. */
const ONE_IN = 8;
/**
 * From this share on, it needs to be known only to a few hundredths: such a column stands out by
 * far, or not at all.
 */
const MOSTLY = 0.9;

/**
 * The look at a column's different texts, each with how many rows have it. Without a JIT, a look
 * takes far longer than reading the text. So of the texts that one row alone has, only some count
 * towards the entropy, each for several: a mean of a thousand is exact to a few hundredths of a
 * bit, and suspicious is a whole one. Every text counts towards the share that looks encrypted,
 * unless nearly all do.
 */
export class DifferentTexts {
  readonly #isBytes: boolean;
  #different = 0;
  #rows = 0;
  #entropyOf = 0;
  #entropy = 0;
  #randomOf = 0;
  #random = 0;
  #isMostlyRandom = false;

  /** `isBytes`: the texts are bytes in hex. */
  constructor(isBytes: boolean) {
    this.#isBytes = isBytes;
  }

  /** `read` returns the text, of which only the start is looked at. */
  add(rows: number, read: () => string): void {
    const isWhole = this.#different < ALL_OF || rows > 1;
    const isOneOf = isWhole || this.#different % ONE_IN === 0;
    this.#different += 1;
    this.#rows += rows;
    if (!isOneOf && this.#isMostlyRandom) return;
    const text = read();
    const start = this.#isBytes
      ? Buffer.from(text.slice(0, 2 * LOOKED_AT), "hex").toString("latin1")
      : text.slice(0, LOOKED_AT);
    const stands = isWhole ? rows : ONE_IN;
    if (isOneOf) {
      this.#entropyOf += stands;
      this.#entropy += stands * entropyOf(start);
    }
    const standsForRandom = this.#isMostlyRandom ? stands : rows;
    this.#randomOf += standsForRandom;
    if (this.#isBytes ? looksRandomBytes(text) : looksRandom(start)) this.#random += standsForRandom;
    if (this.#different === ALL_OF) this.#isMostlyRandom = this.#random >= MOSTLY * this.#randomOf;
  }

  /** For all rows that were added. */
  get sums(): { readonly texts: number; readonly random: number; readonly entropy: number } {
    const texts = this.#rows;
    return {
      texts,
      random: texts === 0 ? 0 : (texts * this.#random) / this.#randomOf,
      entropy: texts === 0 ? 0 : (texts * this.#entropy) / this.#entropyOf,
    };
  }
}
