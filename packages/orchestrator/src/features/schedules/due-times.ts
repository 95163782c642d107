import type { CommandKind } from "@attestore/contract";
import type { DueSource } from "./due-sources.ts";
import { cronOf, nextOf, timeZoneOf } from "./next-times.ts";

/**
 * How many times of one schedule are recorded after a pause of the service: a month of hourly runs.
 */
const MAX_CAUGHT_UP = 1000;
const MAX_KNOWN = 10_000;

export interface DueTimes {
  /** Those that have come, oldest first. */
  times: readonly Date[];
  /** The one after them; null if the schedule has none. */
  next: Date | null;
}

/**
 * What is due of each source. Schedules that are the same are computed once: a time in a time zone
 * takes longer than to store it.
 */
export class ScheduleTimes {
  readonly #kind: CommandKind;
  readonly #now: Date;
  readonly #known = new Map<string, Date | null>();

  constructor(kind: CommandKind, now: Date) {
    this.#kind = kind;
    this.#now = now;
  }

  /** Throws if the schedule can't be computed, such as for an unknown time zone. */
  of(source: DueSource): DueTimes {
    const until = new Date(this.#now.getTime() - source.jitter_ms);
    const times: Date[] = [];
    let next: Date | null = source.due_at;
    while (next !== null && next <= until && times.length < MAX_CAUGHT_UP) {
      times.push(next);
      next = this.#after(source, next);
    }
    // More than are recorded: the rest of the pause is passed over.
    return {
      times,
      next: next !== null && next <= until ? nextOf(source.schedule, this.#kind, until) : next,
    };
  }

  #after({ schedule }: DueSource, at: Date): Date | null {
    const key = `${cronOf(schedule, this.#kind) ?? ""} ${timeZoneOf(schedule)} ${at.getTime()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const next = nextOf(schedule, this.#kind, at);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, next);
    return next;
  }
}
