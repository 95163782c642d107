import type { Peer, Procedures } from "./peer.ts";
import { type HeldPlaces, LocalPlaces, type Places, type WantedPlace } from "./places.ts";
import { LocalTurns, type Turns } from "./turns.ts";

/** A place is given back in such parts, so that an upload sends few messages. */
const GIVE_AT_LEAST = 16 * 1024 ** 2;

/** The turns and places of all workers, as one worker sees them: the primary has them. */
export class RemoteClaims {
  readonly #peer: () => Peer;
  readonly #overtaken = new Map<number, () => void>();
  #ids = 0;

  constructor(peer: () => Peer) {
    this.#peer = peer;
  }

  readonly procedures: Procedures = {
    overtaken: ({ id }: { id: number }) => this.#overtaken.get(id)?.(),
  };

  readonly turns: Turns = {
    take: async (name, overtaken) => {
      const id = (this.#ids += 1);
      if (overtaken !== undefined) this.#overtaken.set(id, overtaken);
      await this.#peer().call("turn", { id, name });
      return () => {
        this.#overtaken.delete(id);
        this.#peer().tell("release", { id });
      };
    },
  };

  readonly places: Places = {
    held: (name) => this.#peer().call("held", { name }),
    take: async (wanted) => {
      const id = (this.#ids += 1);
      const answer = await this.#peer().call<{ full: string } | null>("places", { id, wanted });
      return answer ?? this.#heldPlaces(id);
    },
  };

  #heldPlaces(id: number): HeldPlaces {
    let unsaid = 0;
    return {
      give: (amount) => {
        unsaid += amount;
        if (unsaid < GIVE_AT_LEAST) return;
        this.#peer().tell("give", { id, amount: unsaid });
        unsaid = 0;
      },
      release: () => this.#peer().tell("release", { id }),
    };
  }
}

/**
 * The primary's side: what all workers hold. What a worker held is free again when the worker is
 * gone.
 */
export class ClaimsOfWorkers {
  readonly #turns = new LocalTurns();
  readonly #places = new LocalPlaces();

  /** @param peer of one worker */
  of(peer: () => Peer): { procedures: Procedures; gone: () => void } {
    const held = new Map<number, HeldPlaces>();
    let isGone = false;
    const keep = (id: number, one: HeldPlaces): void => {
      if (isGone) one.release();
      else held.set(id, one);
    };
    return {
      procedures: {
        turn: async ({ id, name }: { id: number; name: string }) => {
          const end = await this.#turns.take(name, () => peer().tell("overtaken", { id }));
          keep(id, { give: () => undefined, release: end });
        },
        places: ({ id, wanted }: { id: number; wanted: readonly WantedPlace[] }) => {
          const taken = this.#places.takeNow(wanted);
          if ("full" in taken) return taken;
          keep(id, taken);
          return null;
        },
        held: ({ name }: { name: string }) => this.#places.held(name),
        give: ({ id, amount }: { id: number; amount: number }) => held.get(id)?.give(amount),
        release: ({ id }: { id: number }) => {
          held.get(id)?.release();
          held.delete(id);
        },
      },
      gone: () => {
        isGone = true;
        for (const one of held.values()) one.release();
        held.clear();
      },
    };
  }
}
