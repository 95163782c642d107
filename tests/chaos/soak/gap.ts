/** The longest time within which nothing arrived. */
export class Gap {
  #last_ms = performance.now();
  #longest_ms = 0;

  begin(): void {
    this.#last_ms = performance.now();
    this.#longest_ms = 0;
  }

  /** Something arrives. */
  mark(): void {
    const now_ms = performance.now();
    this.#longest_ms = Math.max(this.#longest_ms, now_ms - this.#last_ms);
    this.#last_ms = now_ms;
  }

  /** @returns the longest since `begin` */
  end(): number {
    return Math.max(this.#longest_ms, performance.now() - this.#last_ms);
  }
}
