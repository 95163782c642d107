/** Hashes kept at most; the estimate is then about 2 % off. */
const MOST = 4096;

/** Estimates in bounded memory how many values are different. */
export class DistinctEstimate {
  readonly #seed: number;
  readonly #hashes = new Set<number>();
  /** Only hashes below it are kept. */
  #below = 2 ** 32;

  /** `seed` makes hashes that nobody can predict. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  add(value: string): void {
    const hash = hashOf(value, this.#seed);
    if (hash >= this.#below) return;
    this.#hashes.add(hash);
    while (this.#hashes.size > MOST) {
      this.#below /= 2;
      for (const each of this.#hashes) if (each >= this.#below) this.#hashes.delete(each);
    }
  }

  get count(): number {
    return Math.round(this.#hashes.size * (2 ** 32 / this.#below));
  }
}

function hashOf(value: string, seed: number): number {
  let hash = seed | 0;
  for (let at = 0; at < value.length; at += 1) {
    hash = Math.imul(hash ^ value.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
