import { eventFile, HASH_SIZE, receiptFile, toHex } from "@attestore/proof";
import { GrowingNumbers } from "../../compact/growing-numbers.ts";

/** Path of what a leaf with this id covers; null for an id of no receipt or event. */
export function fileOfLeaf(id: string): string | null {
  if (id.startsWith("rcpt_")) return receiptFile(id);
  return id.startsWith("evt_") ? eventFile(id) : null;
}

/**
 * Which leaf of the range covers which file, by the files' numbers. It takes 4 bytes for each file,
 * and as many for each leaf.
 */
export class Placement {
  readonly #from: number;
  /** One more than the leaf's place in the range; 0 for a file that has none. */
  readonly #places: Uint32Array;
  readonly #order = GrowingNumbers.uint32();

  /** `from` is the range's first index. */
  constructor(files: number, from: number) {
    this.#from = from;
    this.#places = new Uint32Array(files);
  }

  /** Add the leaves in the log's order. False if another leaf has this file already. */
  add(file: number, index: number): boolean {
    if (this.#places[file] !== 0) return false;
    this.#places[file] = index - this.#from + 1;
    this.#order.push(file);
    return true;
  }

  /** Undefined for a file that is not of the range's time. */
  indexOf(file: number): number | undefined {
    const place = this.#places[file] ?? 0;
    return place === 0 ? undefined : this.#from + place - 1;
  }

  /** The files in the order of their leaves. */
  inOrder(): Iterable<number> {
    return this.#order;
  }
}

/** Roots of the log by the index of their last leaf, in some 40 bytes each. */
export class RootsByIndex {
  readonly #indexes = GrowingNumbers.float64();
  readonly #roots = GrowingNumbers.bytes();

  /** In ascending order. */
  add(index: number, root: Uint8Array): void {
    this.#indexes.push(index);
    for (const byte of root) this.#roots.push(byte);
  }

  /** In hex. */
  get(index: number): string | undefined {
    let [low, high] = [0, this.#indexes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#indexes.at(middle) < index) low = middle + 1;
      else high = middle;
    }
    if (low === this.#indexes.length || this.#indexes.at(low) !== index) return undefined;
    return toHex(Uint8Array.from({ length: HASH_SIZE }, (_, n) => this.#roots.at(low * HASH_SIZE + n)));
  }
}
