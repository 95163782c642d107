/**
 * Adds up SHA-256 digests, each as eight numbers of 32 bits. The order in which they come does not
 * matter.
 */
export class DigestSum {
  readonly #sums = new Uint32Array(8);

  add(digest: Buffer): void {
    for (let at = 0; at < 8; at++) this.#sums[at] = (this.#sums[at] ?? 0) + digest.readUInt32BE(at * 4);
  }

  /** Eight numbers, each as 8 hex digits. */
  hex(): string {
    return [...this.#sums].map((each) => each.toString(16).padStart(8, "0")).join("");
  }
}
