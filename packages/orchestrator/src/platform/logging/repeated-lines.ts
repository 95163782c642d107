/** So long a line that is found again and again is not logged again. */
const QUIET_MS = 3_600_000;
/** About 10 MB; beyond that, lines are repeated rather than lost. */
const MOST = 20_000;

interface Logged {
  at: number;
  since: number;
}

/**
 * For what is found again with every heartbeat: logged when it is new, and then once an hour for as
 * long as it is found, with how often it was meanwhile. So it fills no log, and whoever reads only
 * the newest lines sees it too.
 */
export class RepeatedLines {
  readonly #logged = new Map<string, Logged>();

  /**
   * @param about what the line is about, with its message
   * @returns null if it is not to be logged now; else what to add to its fields
   */
  due(about: string): { repeated?: number } | null {
    const now = performance.now();
    const logged = this.#logged.get(about);
    if (logged !== undefined && now - logged.at < QUIET_MS) {
      logged.since += 1;
      return null;
    }
    if (logged === undefined && this.#logged.size >= MOST) this.#logged.clear();
    this.#logged.set(about, { at: now, since: 0 });
    return logged === undefined ? {} : { repeated: logged.since };
  }
}
