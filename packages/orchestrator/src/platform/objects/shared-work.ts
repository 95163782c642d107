/**
 * Long work on something with a name, which is done once for all who ask for it while it is under
 * way.
 */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  /**
   * What `work` gives, or what the work gives that was begun under this name before and is still
   * under way.
   */
  do(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#underWay.get(name);
    if (before !== undefined) return before;
    const begun = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, begun);
    return begun;
  }
}
