import { concatBytes, sha256, utf8 } from "@attestore/proof";

/** Words of a digest that stand for a text. */
const WORDS = 4;

/**
 * Numbers below 2^32 - 1 by texts, in 27 to 53 bytes each, however long the texts are. A text is
 * known by 128 bits of its SHA-256 with a secret in front, so nobody can prepare two texts that it
 * takes for one.
 */
export class TextIndex {
  readonly #salt = crypto.getRandomValues(new Uint8Array(16));
  #keys = new Uint32Array(16 * WORDS);
  /** One more than the number; 0 for an empty place. */
  #values = new Uint32Array(16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    return this.get(text) !== undefined;
  }

  get(text: string): number | undefined {
    const value = this.#values[this.#placeOf(this.#keyOf(text))] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  set(text: string, value: number): void {
    if ((this.#size + 1) * 4 > this.#values.length * 3) this.#grow();
    const key = this.#keyOf(text);
    const place = this.#placeOf(key);
    if (this.#values[place] === 0) this.#size += 1;
    this.#keys.set(key, place * WORDS);
    this.#values[place] = value + 1;
  }

  #keyOf(text: string): Uint32Array {
    const digest = sha256(concatBytes(this.#salt, utf8(text)));
    return new Uint32Array(digest.slice(0, WORDS * 4).buffer);
  }

  /** Where the key is, or else where it would be. */
  #placeOf(key: Uint32Array): number {
    const mask = this.#values.length - 1;
    for (let place = (key[0] ?? 0) & mask; ; place = (place + 1) & mask) {
      if (this.#values[place] === 0) return place;
      if (this.#isAt(place, key)) return place;
    }
  }

  #isAt(place: number, key: Uint32Array): boolean {
    for (let n = 0; n < WORDS; n += 1) if (this.#keys[place * WORDS + n] !== key[n]) return false;
    return true;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Uint32Array(keys.length * 2);
    this.#values = new Uint32Array(values.length * 2);
    for (const [n, value] of values.entries()) {
      if (value === 0) continue;
      const key = keys.subarray(n * WORDS, (n + 1) * WORDS);
      const place = this.#placeOf(key);
      this.#keys.set(key, place * WORDS);
      this.#values[place] = value;
    }
  }
}
