/** Two million entries. The memory of pg_dump itself ends before. */
const MAX_BYTES = 16 << 20;
const PART_BYTES = 1 << 16;

/**
 * Entries of a dump for pg_restore's `--use-list`, without the names that a list has beside them.
 */
export class EntryList {
  readonly #max: number;
  readonly #parts: Buffer[] = [];
  #last = "";
  #bytes = 0;

  constructor(max = MAX_BYTES) {
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(id: string): void {
    const entry = `${id};\n`;
    this.#bytes += entry.length;
    if (this.#bytes > this.#max) return;
    this.#last += entry;
    if (this.#last.length < PART_BYTES) return;
    this.#parts.push(Buffer.from(this.#last, "latin1"));
    this.#last = "";
  }

  /** Null if there are too many to be held: restore all then, because a part is not enough. */
  end(): string | null {
    if (this.#bytes > this.#max) return null;
    return Buffer.concat([...this.#parts, Buffer.from(this.#last, "latin1")]).toString("latin1");
  }
}
