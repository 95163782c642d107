import type { RestoreTestPredicate } from "../receipts/statement.ts";

/** When a backup or restore test ran. */
export type TimedRun = Pick<RestoreTestPredicate, "started_at" | "finished_at" | "phases">;

/**
 * Computes the recovery point of one source over a period: the longest span of data that a loss
 * would have cost. Until a backup finishes, the newest recoverable data dates from the beginning of
 * the previous backup.
 */
export class RecoveryPoint {
  readonly #begin: number;
  #newest: number | null = null;
  #worst_ms = 0;

  /** `begin`: start of the period, or of the source if it is younger; milliseconds since 1970. */
  constructor(begin: number) {
    this.#begin = begin;
  }

  /** The last backup before the period. */
  before({ predicate }: { predicate: TimedRun }): void {
    this.#newest = Math.min(Date.parse(predicate.started_at), this.#begin);
  }

  /** A backup cannot be newer than its receipt, whatever the host's clock says. */
  add({ predicate }: { predicate: TimedRun }, recordedAt: string): void {
    const recorded = Date.parse(recordedAt);
    this.#reach(Math.min(Date.parse(predicate.finished_at), recorded));
    const started = Math.min(Date.parse(predicate.started_at), recorded);
    this.#newest = Math.max(this.#newest ?? 0, started);
  }

  /** Whole seconds, rounded up; null if there never was a backup. */
  achieved_s(end: number): number | null {
    if (this.#newest === null) return null;
    this.#reach(end);
    return Math.ceil(this.#worst_ms / 1000);
  }

  #reach(moment: number): void {
    this.#worst_ms = Math.max(this.#worst_ms, moment - (this.#newest ?? this.#begin));
  }
}

/**
 * How long a restore test took until the data was back: download, decryption and restore. If the
 * receipt has no such timings, the whole run counts.
 */
export function recoveryTimeMs({ predicate }: { predicate: TimedRun }): number {
  if (predicate.phases !== undefined) {
    const { download_ms, decrypt_ms, restore_ms } = predicate.phases;
    return download_ms + decrypt_ms + restore_ms;
  }
  return Math.max(0, Date.parse(predicate.finished_at) - Date.parse(predicate.started_at));
}
