/** Clocks that are set by the network are a fraction of a second apart. */
export const MAX_CLOCKS_APART_MS = 30_000;

/**
 * This machine's clock and the database's contradict each other. Nothing is appended or signed: a
 * wrong time in the log can never be taken back, and evidence over it could not be believed.
 */
export class ClockOff extends Error {
  constructor(apart_ms: number) {
    super(
      `this machine's clock and the database's are ${(apart_ms / 1000).toFixed(0)} s apart, so nothing is appended to the log. Set the clocks by NTP (timedatectl set-ntp true)`,
    );
    this.name = "ClockOff";
  }
}

/** Throws ClockOff; see clockOff. */
export function requireClocksAgree(databaseNow: Date, asked_ms: number): void {
  const off = clockOff(databaseNow, asked_ms);
  if (off !== null) throw off;
}

/**
 * Null if the clocks agree. The database said `databaseNow` at some time between `asked_ms` and
 * now, by this machine's clock: it may have waited for a lock in between.
 */
export function clockOff(databaseNow: Date, asked_ms: number): ClockOff | null {
  const then = databaseNow.getTime();
  const apart_ms = Math.max(asked_ms - then, then - Date.now());
  return apart_ms > MAX_CLOCKS_APART_MS ? new ClockOff(apart_ms) : null;
}
