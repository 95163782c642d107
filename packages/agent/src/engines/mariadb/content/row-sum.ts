import { createHash, createHmac, type Hash } from "node:crypto";
import { DigestSum } from "../../content/digest-sum.ts";

/**
 * Adds up the digests of a table's rows. Their order does not matter, because a server may return
 * them in another one.
 */
export class RowSum {
  readonly #key: Buffer;
  readonly #sum = new DigestSum();
  #row: Hash | null = null;
  /** The last byte so far. At the end of a line it is `,` or `;`, which is not part of the row. */
  #held: Buffer = Buffer.alloc(0);

  constructor(key: Buffer) {
    this.#key = createHmac("sha256", key).update("rows").digest();
  }

  /** Takes a part of a line, without the line feed. */
  add(part: Buffer, isEnd: boolean): void {
    this.#row ??= createHash("sha256").update(this.#key);
    if (part.length > 0) {
      if (this.#held.length > 0) this.#row.update(this.#held);
      this.#row.update(part.subarray(0, -1));
    }
    if (isEnd) {
      this.#sum.add(this.#row.digest());
      this.#row = null;
      this.#held = Buffer.alloc(0);
    } else if (part.length > 0) this.#held = Buffer.from(part.subarray(-1));
  }

  hex(): string {
    return this.#sum.hex();
  }
}
