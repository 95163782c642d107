import {
  CLOCK_WENT_BACK,
  type DatedTooLate,
  equalBytes,
  eventFile,
  formatLeaf,
  isServiceLeaf,
  type Leaf,
  type LogRange,
  type Manifest,
  parseEventBundle,
  ProofError,
  readDatedTooLate,
} from "@attestore/proof";
import { ZipError } from "../zip/zip-error.ts";
import type { PackFiles } from "./pack-files.ts";

/** Checkpoints are an hour apart, and clocks differ. */
const TOLERANCE_MS = 3_600_000 + 600_000;
/** A few numbers. */
const MAX_EVENT = 64 * 1024;

interface Placed {
  index: number;
  leaf: Leaf;
}

/** An event which says that entries right before it are dated later than it. */
export interface ClockEvent extends DatedTooLate {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
}

export interface JudgedTimes {
  /** Entries with impossible times that nothing explains. */
  odd: number;
  /** Entries that an event in the log explains. */
  explained: number;
  /** Ids of these events. */
  by: string[];
}

/**
 * Finds entries with impossible times: long before an earlier entry, long before the checkpoint
 * that precedes the period, or long after the one that follows it. Without these checkpoints, the
 * log's beginning and the export take their place. A false time could move something out of the
 * period. So only the service's own entries can be explained by its clock: what an agent signed
 * counts as odd, whatever the service says of its clock.
 */
export class EntryTimes {
  readonly #range: LogRange;
  readonly #earliest: number;
  readonly #latest: number;
  readonly #indexes: number[] = [];
  readonly #recorded: number[] = [];
  readonly #isOwn: boolean[] = [];
  /** The leaves of events that may explain others, in log order. */
  readonly clockEvents: Placed[] = [];

  constructor(range: LogRange, { period, exported_at }: Manifest) {
    this.#range = range;
    this.#earliest = Date.parse(period.from) - TOLERANCE_MS;
    this.#latest = Date.parse(range.end === null ? exported_at : range.bodies_until) + TOLERANCE_MS;
  }

  look(placed: Placed): void {
    const { index, leaf } = placed;
    this.#indexes.push(index);
    this.#recorded.push(Date.parse(leaf.recorded_at));
    this.#isOwn.push(isServiceLeaf(leaf));
    if (leaf.kind === CLOCK_WENT_BACK && isServiceLeaf(leaf)) this.clockEvents.push(placed);
  }

  judge(events: readonly ClockEvent[]): JudgedTimes {
    const { start, end } = this.#range;
    const judged: JudgedTimes = { odd: 0, explained: 0, by: [] };
    let newest = -Infinity;
    let next = 0;
    for (const [n, index] of this.#indexes.entries()) {
      const recorded = this.#recorded[n] ?? Number.NaN;
      while ((events[next]?.last_index ?? Infinity) < index) next += 1;
      const event = events[next];
      if (
        event !== undefined &&
        this.#isOwn[n] === true &&
        index >= event.first_index &&
        recorded > event.at
      ) {
        judged.explained += 1;
        if (judged.by.at(-1) !== event.id) judged.by.push(event.id);
        continue;
      }
      const tooEarly = index >= (start?.tree_size ?? 0) && recorded < this.#earliest;
      const tooLate = index < (end?.tree_size ?? Infinity) && recorded > this.#latest;
      if (tooEarly || tooLate || recorded < newest - TOLERANCE_MS) judged.odd += 1;
      newest = Math.max(newest, recorded);
    }
    return judged;
  }
}

/**
 * What these events of the log say, in their order. One without its body explains nothing: whether
 * the body has to be there is another check.
 */
export async function readClockEvents(files: PackFiles, leaves: readonly Placed[]): Promise<ClockEvent[]> {
  const events: ClockEvent[] = [];
  for (const { index, leaf } of leaves) {
    const path = eventFile(leaf.id);
    if (!files.has(path)) continue;
    const dated = await readDated(files, path, { index, leaf });
    if (dated !== null) events.push({ ...dated, id: leaf.id, at: Date.parse(leaf.recorded_at) });
  }
  return events;
}

/** The bundle's form has shown that its leaf covers the event. */
async function readDated(
  files: PackFiles,
  path: string,
  { index, leaf }: Placed,
): Promise<DatedTooLate | null> {
  try {
    const bundle = parseEventBundle(await files.read(path, MAX_EVENT));
    if (!equalBytes(formatLeaf(bundle.leaf), formatLeaf(leaf))) return null;
    return readDatedTooLate(bundle.event.detail, index);
  } catch (error) {
    if (error instanceof ProofError || error instanceof ZipError) return null;
    throw error;
  }
}
