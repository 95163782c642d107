import { type DeclaredDraw, type EventBundle, plural } from "@attestore/proof";
import { GrowingNumbers, sortedNumbers } from "../../compact/growing-numbers.ts";
import { Numbering } from "../../compact/numbering.ts";
import type { CheckedEvent } from "../entries/check-event.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { isKeptTest } from "../entries/kept-statement.ts";

/** What is recorded so shortly before a draw may have come after the agent asked what is kept. */
const ASKED_BEFORE_MS = 600_000;
/** A declaration may have waited so long on its host for the service. */
const WAITED_MS = 24 * 3_600_000;

const REMOVALS = ["backup_expiring", "backup_expired"];
const WITHDRAWN = "backup_removal_withdrawn";

type Declared = Pick<EventBundle, "leaf" | "event">;

/** When the agent asked which backups are kept, in milliseconds since 1970. */
function askedAt({ leaf, event }: Declared): number {
  const recorded = Date.parse(leaf.recorded_at);
  return Math.min(recorded, Math.max(Date.parse(event.occurred_at), recorded - WAITED_MS));
}

/** Whether the agent may have asked for a draw's candidates before that time. */
export function mayBeAskedBefore(draw: Declared, time: string): boolean {
  return askedAt(draw) - ASKED_BEFORE_MS < Date.parse(time);
}

/** Which backups the log has of each source, and which were to be removed when. */
export class KeptBackups {
  readonly #ids = new Numbering();
  readonly #sources = new Numbering();
  /** Of receipts of backups in the period. */
  readonly #backups = {
    id: GrowingNumbers.uint32(),
    source: GrowingNumbers.uint32(),
    recorded: GrowingNumbers.float64(),
  };
  readonly #removals = {
    id: GrowingNumbers.uint32(),
    isWithdrawn: GrowingNumbers.bytes(),
    recorded: GrowingNumbers.float64(),
    index: GrowingNumbers.float64(),
  };
  #sorted: { bySource: Uint32Array; removals: Uint32Array } | null = null;
  /** By the backup's number: the last draw by whose time it was to be removed. */
  #removedFor = new Uint32Array(0);
  /** By the backup's number: the last draw that has it among its candidates. */
  #namedBy = new Uint32Array(0);
  #draws = 0;

  addBackup({ statement, recordedAt, isEarlier }: CheckedReceipt): void {
    if (isKeptTest(statement) || isEarlier) return;
    this.#backups.id.push(this.#ids.add(statement.predicate.backup_id));
    this.#backups.source.push(this.#sources.add(statement.predicate.source_id));
    this.#backups.recorded.push(Date.parse(recordedAt));
  }

  addEvent({ logIndex, bundle: { event, leaf } }: Pick<CheckedEvent, "logIndex" | "bundle">): void {
    const isWithdrawn = leaf.kind === WITHDRAWN;
    if (event.backup_id === undefined || !(isWithdrawn || REMOVALS.includes(leaf.kind))) return;
    this.#removals.id.push(this.#ids.add(event.backup_id));
    this.#removals.isWithdrawn.push(isWithdrawn ? 1 : 0);
    this.#removals.recorded.push(Date.parse(leaf.recorded_at));
    this.#removals.index.push(logIndex);
  }

  /**
   * Once everything was added: says what is missing among the candidates of a draw that the log
   * has, and whose removal it did not announce. Null if nothing is.
   */
  missingIn({ leaf, event }: Declared, draw: DeclaredDraw): string | null {
    const at = askedAt({ leaf, event });
    const recorded = Date.parse(leaf.recorded_at);
    const { bySource } = this.#sortedOnce();
    this.#draws += 1;
    this.#markRemoved({ at, recorded });
    for (const id of draw.candidates) {
      const number = this.#ids.get(id);
      if (number !== undefined) this.#namedBy[number] = this.#draws;
    }
    const newest = draw.candidates.at(-1) ?? "";
    const source = this.#sources.get(draw.sourceId);
    let [missing, first] = [0, ""];
    if (source === undefined) return null;
    for (let n = this.#firstOf(source); n < bySource.length; n += 1) {
      const backup = bySource[n] ?? 0;
      if (this.#backups.source.at(backup) !== source) break;
      const id = this.#backups.id.at(backup);
      if (this.#namedBy[id] === this.#draws || this.#removedFor[id] === this.#draws) continue;
      if (this.#backups.recorded.at(backup) >= at - ASKED_BEFORE_MS) continue;
      if (draw.omitted > 0 && this.#ids.textAt(id) > newest) continue;
      missing += 1;
      if (missing === 1) first = this.#ids.textAt(id);
    }
    return missing === 0
      ? null
      : `${plural(missing, "kept backup is", "kept backups are")} not among its candidates, the first is ${first}`;
  }

  /** Whether the log has by the time of that draw that this backup is to be removed. */
  isRemovedFor(draw: EventBundle, backupId: string): boolean {
    this.#sortedOnce();
    const number = this.#ids.get(backupId);
    if (number === undefined) return false;
    this.#draws += 1;
    this.#markRemoved({ at: askedAt(draw), recorded: Date.parse(draw.leaf.recorded_at) });
    return this.#removedFor[number] === this.#draws;
  }

  /**
   * The host's clock may be slow. So what counts as removed is what the log has by the time of the
   * draw, and what counts as kept again is what it had when the agent asked.
   */
  #markRemoved(draw: { at: number; recorded: number }): void {
    const { id, isWithdrawn, recorded } = this.#removals;
    for (const n of this.#sortedOnce().removals) {
      const moment = recorded.at(n);
      if (moment > draw.recorded + ASKED_BEFORE_MS) continue;
      if (isWithdrawn.at(n) === 0) this.#removedFor[id.at(n)] = this.#draws;
      else if (moment < draw.at - ASKED_BEFORE_MS) this.#removedFor[id.at(n)] = 0;
    }
  }

  #sortedOnce(): { bySource: Uint32Array; removals: Uint32Array } {
    if (this.#sorted !== null) return this.#sorted;
    const { source } = this.#backups;
    const { index } = this.#removals;
    this.#removedFor = new Uint32Array(this.#ids.size);
    this.#namedBy = new Uint32Array(this.#ids.size);
    this.#sorted = {
      bySource: sortedNumbers(source.length, (a, b) => source.at(a) - source.at(b)),
      removals: sortedNumbers(index.length, (a, b) => index.at(a) - index.at(b)),
    };
    return this.#sorted;
  }

  /** Where the backups of that source begin among those sorted by source. */
  #firstOf(source: number): number {
    const { bySource } = this.#sortedOnce();
    let [low, high] = [0, bySource.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#backups.source.at(bySource[middle] ?? 0) < source) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
