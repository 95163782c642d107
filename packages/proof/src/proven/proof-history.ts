import { type NotProvenBecause, notProvenBecause, PROOF_AGE_S } from "./not-proven-because.ts";

/**
 * How many backups are kept. A restore test of an older one neither proves a source nor clears a
 * failure.
 */
const REMEMBERED = 1000;
/** Marks a backup that is older than all known ones. */
const UNKNOWN = -1;

interface Tested {
  /** The backup's position in recording order. */
  order: number;
  at: number;
}

/**
 * Collects a source's backups and restore tests, given in recording order. Times are milliseconds
 * since 1970.
 */
export class ProofHistory {
  readonly #backups = new Map<string, { order: number; finishedAt: number }>();
  #count = 0;
  /**
   * Keeps only tests that no other test beats in both the backup's age and the time of recording.
   * The one that counts in the end is always among them.
   */
  #passed: Tested[] = [];
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
