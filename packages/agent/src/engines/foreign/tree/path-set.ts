import { hash } from "node:crypto";

/** So many paths take 32 MiB. */
export const MAX_PATHS = 2_000_000;
const FIRST_SLOTS = 1 << 12;

/**
 * Which paths an archive has named, and which of them are no directories: by 64 bits of a digest
 * each, because the paths themselves could take any amount of memory. Two paths that have the same
 * 64 bits count as one; with two million paths that happens once in ten million archives.
 */
export class PathSet {
  /** Two words a path. Zeros are an empty slot. */
  #slots = new Uint32Array(2 * FIRST_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** False if the path was in the set already. */
  add(path: string, isDirectory: boolean): boolean {
    if (2 * (this.#size + 1) > this.#slots.length / 2) this.#grow();
    const [high, low] = wordsOf(path);
    const slot = this.#find(high, low);
    if (this.#slots[slot] !== 0) return false;
    this.#slots[slot] = high;
    this.#slots[slot + 1] = isDirectory ? low : low + 1;
    this.#size += 1;
    return true;
  }

  /** Null if nothing has named the path. */
  kindOf(path: string): "directory" | "other" | null {
    const slot = this.#find(...wordsOf(path));
    if (this.#slots[slot] === 0) return null;
    return (this.#slots[slot + 1] ?? 0) % 2 === 0 ? "directory" : "other";
  }

  #find(high: number, low: number): number {
    const slots = this.#slots.length / 2;
    for (let slot = (low / 2) % slots; ; slot = (slot + 1) % slots) {
      const [there, rest = 0] = [this.#slots[2 * slot], this.#slots[2 * slot + 1]];
      if (there === 0 || (there === high && rest - (rest % 2) === low)) return 2 * slot;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      const [high = 0, low = 0] = [before[at], before[at + 1]];
      if (high === 0) continue;
      const slot = this.#find(high, low - (low % 2));
      this.#slots[slot] = high;
      this.#slots[slot + 1] = low;
    }
  }
}

/** The first is never 0; the second is even, because its last bit says the kind. */
function wordsOf(path: string): readonly [high: number, low: number] {
  const digest = hash("sha256", Buffer.from(path, "latin1"), "buffer");
  const low = digest.readUInt32BE(4);
  return [Math.max(1, digest.readUInt32BE(0)), low - (low % 2)];
}
