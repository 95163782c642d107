/** So much of something that there is a limited amount of. */
export interface WantedPlace {
  name: string;
  amount: number;
  /** All together may hold no more than this. */
  limit: number;
  /** At least this much counts as held by others, if a measurement was made while they held it. */
  atLeast?: number;
}

export interface HeldPlaces {
  /** So much of each is free again. */
  give(amount: number): void;
  /** All the rest is free again. */
  release(): void;
}

/** Counts what the requests of this process alone hold, or those of all workers. */
export interface Places {
  /** All of these, or none: then the name of the first that is not free. */
  take(wanted: readonly WantedPlace[]): Promise<HeldPlaces | { full: string }>;
  /** How much is held now. */
  held(name: string): Promise<number>;
}

/** The places of a service that is one process, and of the primary for its workers. */
export class LocalPlaces implements Places {
  readonly #held = new Map<string, number>();

  async take(wanted: readonly WantedPlace[]): Promise<HeldPlaces | { full: string }> {
    return this.takeNow(wanted);
  }

  takeNow(wanted: readonly WantedPlace[]): HeldPlaces | { full: string } {
    for (const { name, amount, limit, atLeast = 0 } of wanted)
      if (Math.max(this.#of(name), atLeast) + amount > limit) return { full: name };
    const left = wanted.map(({ name, amount }) => ({ name, amount }));
    for (const { name, amount } of left) this.#add(name, amount);
    const give = (most: number): void => {
      for (const one of left) {
        const given = Math.min(one.amount, most);
        one.amount -= given;
        this.#add(one.name, -given);
      }
    };
    return { give, release: () => give(Number.POSITIVE_INFINITY) };
  }

  async held(name: string): Promise<number> {
    return this.#of(name);
  }

  #of(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  #add(name: string, amount: number): void {
    const sum = this.#of(name) + amount;
    if (sum === 0) this.#held.delete(name);
    else this.#held.set(name, sum);
  }
}
