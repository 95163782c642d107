import {
  type DatedTooLate,
  eventFile,
  formatLeaf,
  isServiceLeaf,
  type Leaf,
  leafHash,
  type LogRange,
  type PackHeader,
  parseEventBundle,
  ProofError,
  readDatedTooLate,
  toHex,
} from "@attestore/proof";
import { ZipError } from "../../zip/zip-error.ts";
import type { PackFiles } from "./pack-files.ts";

/** Checkpoints are an hour apart, and clocks differ. */
const TOLERANCE_MS = 3_600_000 + 600_000;
/** A few numbers. */
const MAX_EVENT = 64 * 1024;

/** The leaf of an event that may explain others. */
export interface ClockLeaf {
  index: number;
  id: string;
  /** Hex. */
  leafHash: string;
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
export class EntryTimes implements JudgedTimes {
  readonly #range: Pick<LogRange, "start" | "end">;
  readonly #earliest: number;
  readonly #latest: number;
  readonly #events: readonly ClockEvent[];
  #next = 0;
  #newest = -Infinity;
  odd = 0;
  explained = 0;
  readonly by: string[] = [];

  /** `events` in log order. */
  constructor(
    range: Pick<LogRange, "start" | "end" | "bodies_until">,
    { period, exported_at }: Pick<PackHeader, "period" | "exported_at">,
    events: readonly ClockEvent[] = [],
  ) {
    this.#range = range;
    this.#events = events;
    this.#earliest = Date.parse(period.from) - TOLERANCE_MS;
    this.#latest = Date.parse(range.end === null ? exported_at : range.bodies_until) + TOLERANCE_MS;
  }

  /** In log order. */
  look({ index, leaf }: { index: number; leaf: Leaf }): void {
    const { start, end } = this.#range;
    const recorded = Date.parse(leaf.recorded_at);
    while ((this.#events[this.#next]?.last_index ?? Infinity) < index) this.#next += 1;
    const event = this.#events[this.#next];
    if (event !== undefined && isServiceLeaf(leaf) && index >= event.first_index && recorded > event.at) {
      this.explained += 1;
      if (this.by.at(-1) !== event.id) this.by.push(event.id);
      return;
    }
    const tooEarly = index >= (start?.tree_size ?? 0) && recorded < this.#earliest;
    const tooLate = index < (end?.tree_size ?? Infinity) && recorded > this.#latest;
    if (tooEarly || tooLate || recorded < this.#newest - TOLERANCE_MS) this.odd += 1;
    this.#newest = Math.max(this.#newest, recorded);
  }
}

/**
 * What these events of the log say, in their order. One without its body explains nothing: whether
 * the body has to be there is another check.
 */
export async function readClockEvents(files: PackFiles, leaves: readonly ClockLeaf[]): Promise<ClockEvent[]> {
  const events: ClockEvent[] = [];
  for (const leaf of leaves) {
    if (!files.has(eventFile(leaf.id))) continue;
    const dated = await readDated(files, leaf);
    if (dated !== null) events.push(dated);
  }
  return events;
}

/** The bundle's form has shown that its leaf covers the event. */
async function readDated(
  files: PackFiles,
  { index, id, leafHash: hash }: ClockLeaf,
): Promise<ClockEvent | null> {
  try {
    const { leaf, event } = parseEventBundle(await files.read(eventFile(id), MAX_EVENT));
    if (toHex(leafHash(formatLeaf(leaf))) !== hash) return null;
    const dated = readDatedTooLate(event.detail, index);
    return dated === null ? null : { ...dated, id, at: Date.parse(leaf.recorded_at) };
  } catch (error) {
    if (error instanceof ProofError || error instanceof ZipError) return null;
    throw error;
  }
}
