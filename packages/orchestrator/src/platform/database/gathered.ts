import { asDatabaseUnavailable } from "./unavailable.ts";

export interface GatheredOptions<Item, Result> {
  /** One statement for all of them. Resolves with their results, in their order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** How long the first of a batch waits for others. 0 if only for the batch before it to end. */
  wait_ms: number;
  /** Bounds a batch: the sum of its items' weights. A single item may be heavier. */
  maxWeight: number;
  /** 1 unless told. */
  weightOf?: (item: Item) => number;
  /** Of items with the same name only one is in a batch. */
  nameOf?: (item: Item) => string;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs one statement for what many requests need at about the same time: each statement costs the
 * database, the driver and the network much more than another row in it. One batch is in flight at
 * a time, and the next gathers meanwhile. Nobody is answered before the statement of their batch
 * has committed. A batch that the database refuses is repeated one by one, so one bad item fails
 * alone.
 */
export class Gathered<Item, Result> {
  readonly #options: Required<GatheredOptions<Item, Result>>;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  constructor(options: GatheredOptions<Item, Result>) {
    let count = 0;
    this.#options = { weightOf: () => 1, nameOf: () => String(count++), ...options };
  }

  do(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      const { wait_ms } = this.#options;
      if (wait_ms === 0) void this.#runAll();
      else setTimeout(() => void this.#runAll(), wait_ms);
    });
  }

  async #runAll(): Promise<void> {
    do await this.#run(this.#take());
    while (this.#options.wait_ms === 0 && this.#waiting.length > 0);
    this.#isRunning = this.#waiting.length > 0;
    if (this.#isRunning) setTimeout(() => void this.#runAll(), this.#options.wait_ms);
  }

  #take(): Waiting<Item, Result>[] {
    const { maxWeight, weightOf, nameOf } = this.#options;
    const names = new Set<string>();
    const batch: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    let weight = 0;
    for (const waiting of this.#waiting) {
      const [name, more] = [nameOf(waiting.item), weightOf(waiting.item)];
      if (batch.length > 0 && (weight + more > maxWeight || names.has(name))) left.push(waiting);
      else {
        names.add(name);
        batch.push(waiting);
        weight += more;
      }
    }
    this.#waiting = left;
    return batch;
  }

  /** Never rejects. */
  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error("a gathered statement lost some of its items");
      for (const [n, { resolve }] of batch.entries()) resolve(results[n] as Result);
    } catch (error) {
      if (batch.length > 1 && asDatabaseUnavailable(error) === null)
        for (const waiting of batch) await this.#run([waiting]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
