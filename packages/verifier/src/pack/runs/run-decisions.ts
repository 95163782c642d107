import { countsForRun, type ScheduledRun } from "@attestore/proof";
import { GrowingNumbers, sortedNumbers } from "../../compact/growing-numbers.ts";
import { TextIndex } from "../../compact/text-index.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { isKeptTest } from "../entries/kept-statement.ts";

const STATUSES = ["done", "passed", "failed"] as const;

/** The receipt that decides a run, and the status that it gives the run. */
export interface Decision {
  /** The number of the receipt's file. */
  file: number;
  status: (typeof STATUSES)[number];
}

/** Which receipt decides which run. It takes 29 bytes for each receipt. */
export class RunDecisions {
  /** By source and kind. */
  readonly #groups = new TextIndex();
  readonly #group = GrowingNumbers.uint32();
  readonly #file = GrowingNumbers.uint32();
  readonly #status = GrowingNumbers.bytes();
  readonly #recorded = GrowingNumbers.float64();
  readonly #finished = GrowingNumbers.float64();
  #order: Uint32Array | null = null;

  add({ file, recordedAt, statement, isEarlier }: CheckedReceipt): void {
    if (isEarlier) return;
    const { source_id, finished_at } = statement.predicate;
    const isTest = isKeptTest(statement);
    const name = `${source_id} ${isTest ? "restore_test" : "backup"}`;
    const group = this.#groups.get(name) ?? this.#groups.size;
    this.#groups.set(name, group);
    this.#group.push(group);
    this.#file.push(file);
    this.#status.push(STATUSES.indexOf(isTest ? statement.predicate.result : "done"));
    this.#recorded.push(Date.parse(recordedAt));
    this.#finished.push(Date.parse(finished_at));
  }

  /** Once everything was added: by the first receipt of the run's kind that counts for it. */
  of({ source_id, kind, scheduled_at, deadline_at }: ScheduledRun): Decision | null {
    const group = this.#groups.get(`${source_id} ${kind}`);
    if (group === undefined) return null;
    const [scheduled, deadline] = [Date.parse(scheduled_at), Date.parse(deadline_at)];
    const order = this.#sortedOnce();
    for (let at = this.#firstFrom(group, scheduled); at < order.length; at += 1) {
      const n = order[at] ?? 0;
      const [recorded, finished] = [this.#recorded.at(n), this.#finished.at(n)];
      if (this.#group.at(n) !== group || recorded > deadline) return null;
      if (countsForRun({ scheduled, deadline }, { recorded, finished }))
        return { file: this.#file.at(n), status: STATUSES[this.#status.at(n)] ?? "done" };
    }
    return null;
  }

  /**
   * Sorted by recording time and not only by id: only an honest service's ids have the same order.
   * Files are numbered in the order of their ids.
   */
  #sortedOnce(): Uint32Array {
    this.#order ??= sortedNumbers(
      this.#group.length,
      (a, b) =>
        this.#group.at(a) - this.#group.at(b) ||
        this.#recorded.at(a) - this.#recorded.at(b) ||
        this.#file.at(a) - this.#file.at(b),
    );
    return this.#order;
  }

  /** Index of the group's first receipt that was recorded at that moment or later. */
  #firstFrom(group: number, moment: number): number {
    const order = this.#sortedOnce();
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const n = order[middle] ?? 0;
      const difference = this.#group.at(n) - group || this.#recorded.at(n) - moment;
      if (difference < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
