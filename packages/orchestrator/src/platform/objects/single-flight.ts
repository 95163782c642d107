/**
 * Long work on something with a name, done once for all callers that ask for it while it is
 * running.
 */
export class SingleFlight<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  /** The result of `work`, or of the work that is already running under this name. */
  do(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#underWay.get(name);
    if (before !== undefined) return before;
    const begun = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, begun);
    return begun;
  }
}
