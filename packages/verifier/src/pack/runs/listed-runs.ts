import { isTimestamp, type ScheduledRun } from "@attestore/proof";
import { GrowingNumbers, sortedNumbers } from "../../compact/growing-numbers.ts";
import { TextIndex } from "../../compact/text-index.ts";

type Key = Pick<ScheduledRun, "source_id" | "kind">;

/** The runs of a pack by their source, kind and time. It takes 24 bytes for each. */
export class ListedRuns {
  readonly #groups = new TextIndex();
  readonly #group = GrowingNumbers.uint32();
  readonly #scheduled = GrowingNumbers.float64();
  readonly #deadline = GrowingNumbers.float64();
  #order: Uint32Array | null = null;

  get count(): number {
    return this.#group.length;
  }

  add(run: ScheduledRun): void {
    const name = nameOf(run);
    const group = this.#groups.get(name) ?? this.#groups.size;
    this.#groups.set(name, group);
    this.#group.push(group);
    this.#scheduled.push(Date.parse(run.scheduled_at));
    this.#deadline.push(Date.parse(run.deadline_at));
    this.#order = null;
  }

  /** `scheduled` in milliseconds since 1970. */
  has(key: Key, scheduled: number): boolean {
    const order = this.#sortedOnce();
    const group = this.#groups.get(nameOf(key));
    if (group === undefined) return false;
    const n = order[this.#firstFrom(group, scheduled)];
    return n !== undefined && this.#group.at(n) === group && this.#scheduled.at(n) === scheduled;
  }

  /** The same for a text that may be no time. */
  hasTime(key: Key, scheduled_at: string): boolean {
    return isTimestamp(scheduled_at) && this.has(key, Date.parse(scheduled_at));
  }

  /** How many were due from that moment on and had to be done by the other. */
  countBetween(key: Key, from: string, until: string): number {
    const order = this.#sortedOnce();
    const group = this.#groups.get(nameOf(key));
    if (group === undefined) return 0;
    const deadline = Date.parse(until);
    let count = 0;
    for (let at = this.#firstFrom(group, Date.parse(from)); at < order.length; at += 1) {
      const n = order[at] ?? 0;
      if (this.#group.at(n) !== group) break;
      if (this.#deadline.at(n) <= deadline) count += 1;
    }
    return count;
  }

  #sortedOnce(): Uint32Array {
    this.#order ??= sortedNumbers(
      this.count,
      (a, b) => this.#group.at(a) - this.#group.at(b) || this.#scheduled.at(a) - this.#scheduled.at(b),
    );
    return this.#order;
  }

  #firstFrom(group: number, scheduled: number): number {
    const order = this.#sortedOnce();
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const n = order[middle] ?? 0;
      const difference = this.#group.at(n) - group || this.#scheduled.at(n) - scheduled;
      if (difference < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function nameOf({ source_id, kind }: Key): string {
  return `${source_id} ${kind}`;
}
