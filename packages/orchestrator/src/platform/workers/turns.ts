/**
 * Turns at work that only one request of the service may do at a time: of this process alone, or of
 * all workers.
 */
export interface Turns {
  /**
   * Waits for whoever takes a turn of this name before.
   * @param overtaken called when somebody else wants the turn, once it was asked for
   * @returns ends the turn
   */
  take(name: string, overtaken?: () => void): Promise<() => void>;
}

interface Turn {
  overtaken: () => void;
  ended: Promise<void>;
}

/** The turns of a service that is one process, and of the primary for its workers. */
export class LocalTurns implements Turns {
  readonly #last = new Map<string, Turn>();

  async take(name: string, overtaken: () => void = () => undefined): Promise<() => void> {
    const before = this.#last.get(name);
    const ended = Promise.withResolvers<void>();
    const own = { overtaken, ended: ended.promise };
    this.#last.set(name, own);
    before?.overtaken();
    await before?.ended;
    return () => {
      if (this.#last.get(name) === own) this.#last.delete(name);
      ended.resolve();
    };
  }
}

/** Does work when it is its turn. */
export async function inTurn<T>(turns: Turns, name: string, work: () => Promise<T>): Promise<T> {
  const end = await turns.take(name);
  try {
    return await work();
  } finally {
    end();
  }
}
