import { GrowingNumbers } from "./growing-numbers.ts";
import { TextIndex } from "./text-index.ts";

/** Numbers texts from 0, in the order in which they came, and has them again by their numbers. */
export class Numbering {
  readonly #numbers = new TextIndex();
  readonly #characters = GrowingNumbers.bytes();
  readonly #ends = GrowingNumbers.uint32();

  get size(): number {
    return this.#ends.length;
  }

  /** The text's number, a new one if it has none. Only for ASCII, as all ids are. */
  add(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    for (let n = 0; n < text.length; n += 1) this.#characters.push(text.charCodeAt(n));
    this.#ends.push(this.#characters.length);
    this.#numbers.set(text, this.size - 1);
    return this.size - 1;
  }

  get(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  textAt(number: number): string {
    let text = "";
    const from = number === 0 ? 0 : this.#ends.at(number - 1);
    for (let n = from; n < this.#ends.at(number); n += 1) text += String.fromCharCode(this.#characters.at(n));
    return text;
  }
}
