/** How long several pieces of one work took, without what was between them. */
export class Stopwatch {
  #elapsed_ms = 0;

  get elapsed_ms(): number {
    return this.#elapsed_ms;
  }

  async during<Result>(work: Promise<Result>): Promise<Result> {
    const started = performance.now();
    try {
      return await work;
    } finally {
      this.#elapsed_ms += performance.now() - started;
    }
  }
}
