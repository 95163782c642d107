import type { Random } from "../random.ts";

export const AREAS = ["service", "database", "agent", "network", "disk", "clock"] as const;

/** Something that goes wrong in one round. */
export interface Fault {
  name: string;
  area: (typeof AREAS)[number];
  /** It takes long, so it comes in every fourth pass only. */
  isRare?: boolean;
  /**
   * Makes it happen, and ends it: a moment later everything has to be well again. Throws if what it
   * does to the service ends in another way than the service promises.
   */
  strike: (random: Random) => Promise<void>;
}

/**
 * Faults without end, in passes: each comes once in a pass, in an order of its own. What a seed
 * gives it gives again.
 */
export function* passes(faults: readonly Fault[], random: Random): Generator<Fault, never, undefined> {
  for (let pass = 0; ; pass++)
    yield* random.shuffled(faults.filter(({ isRare }) => isRare !== true || pass % 4 === 0));
}
