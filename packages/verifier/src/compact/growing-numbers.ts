type Numbers = Uint8Array | Uint32Array | Float64Array;
type Kind = new (length: number) => Numbers;

/** A list of numbers that takes the bytes of its kind for each, and not more than twice as many. */
export class GrowingNumbers {
  #numbers: Numbers;
  readonly #kind: Kind;
  #length = 0;

  private constructor(kind: Kind) {
    this.#kind = kind;
    this.#numbers = new kind(16);
  }

  /** From 0 to 255. */
  static bytes(): GrowingNumbers {
    return new GrowingNumbers(Uint8Array);
  }

  /** From 0 to 2^32 - 1. */
  static uint32(): GrowingNumbers {
    return new GrowingNumbers(Uint32Array);
  }

  static float64(): GrowingNumbers {
    return new GrowingNumbers(Float64Array);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) {
      const grown = new this.#kind(this.#length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#length] = value;
    this.#length += 1;
  }

  at(n: number): number {
    return this.#numbers[n] ?? Number.NaN;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let n = 0; n < this.#length; n += 1) yield this.at(n);
  }
}

/** The numbers below `count`, sorted. */
export function sortedNumbers(count: number, compare: (a: number, b: number) => number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, n) => n).sort(compare);
}
