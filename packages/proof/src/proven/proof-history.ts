import { type NotProvenBecause, notProvenBecause, PROOF_AGE_S } from "./not-proven-because.ts";

/**
 * How many backups are remembered. A restore test of an older one does not prove the source, and
 * clears no failure of a remembered backup.
 */
const REMEMBERED = 1000;
/** The position of a backup that is not remembered. It counts as older than all others. */
const UNKNOWN = -1;

interface Tested {
  /** The backup's position in recording order. */
  order: number;
  /** When the test ended. */
  at: number;
}

/**
 * Collects a source's backups and restore tests. Add backups in recording order, and each before
 * its tests. Times are milliseconds since 1970.
 */
export class ProofHistory {
  readonly #backups = new Map<string, { order: number; finishedAt: number }>();
  #count = 0;
  /**
   * The passed tests that can still count: no other passed test was both as late and of a backup as
   * new.
   */
  #passed: Tested[] = [];
  /** The newest backup and the latest time among the failed tests; null if a pass cleared them. */
  #failed: Tested | null = null;
  #everPassed = false;

  addBackup(id: string, finishedAt: number): void {
    this.#backups.set(id, { order: this.#count, finishedAt });
    this.#count += 1;
    if (this.#backups.size <= REMEMBERED) return;
    const oldest = this.#backups.keys().next();
    if (oldest.done !== true) this.#backups.delete(oldest.value);
  }

  addTest({ backupId, result, at }: { backupId: string; result: "passed" | "failed"; at: number }): void {
    const order = this.#backups.get(backupId)?.order ?? UNKNOWN;
    if (result === "failed") {
      const { order: before, at: earlier } = this.#failed ?? { order, at };
      this.#failed = { order: Math.max(before, order), at: Math.max(earlier, at) };
      return;
    }
    this.#everPassed = true;
    if (this.#failed !== null && order >= this.#failed.order && at >= this.#failed.at) this.#failed = null;
    if (order === UNKNOWN) return;
    if (this.#passed.some((known) => known.order >= order && known.at >= at)) return;
    this.#passed = [...this.#passed.filter((known) => known.order > order || known.at > at), { order, at }];
  }

  /** Null if the source is proven at that moment. */
  notProvenBecause(now: number, rpo_s: number | undefined): NotProvenBecause | null {
    const order = Math.max(
      UNKNOWN,
      ...this.#passed.filter(({ at }) => now - at <= PROOF_AGE_S * 1000).map((tested) => tested.order),
    );
    const backup = [...this.#backups.values()].find((known) => known.order === order);
    const passed =
      backup === undefined ? null : { isNewest: order === this.#count - 1, finishedAt: backup.finishedAt };
    const facts = {
      hasBackup: this.#count > 0,
      everPassed: this.#everPassed,
      passed,
      failed: this.#failed !== null,
      rpo_s,
    };
    return notProvenBecause(facts, now);
  }
}
