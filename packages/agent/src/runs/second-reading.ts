import type { CheckOutcome } from "@attestore/proof";
import { readTwiceCheck } from "../checks/index.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";

/**
 * The store, a proxy or memory may have changed a bit on the way, once. So a backup counts as
 * damaged only if a second reading is damaged too. There is one second reading in a run, and none
 * if the first one is right.
 */
export class SecondReading {
  readonly #fetchAgain: () => Promise<void>;
  #first: DamagedCiphertext | null = null;

  /** `fetchAgain`: gets the ciphertext from where it is stored once more. */
  constructor(fetchAgain: () => Promise<void>) {
    this.#fetchAgain = fetchAgain;
  }

  /**
   * What `read` returns, or returns the second time.
   * @throws DamagedCiphertext if it was damaged both times
   */
  async orAgain<Result>(read: (isSecond: boolean) => Promise<Result>): Promise<Result> {
    try {
      return await read(false);
    } catch (error) {
      if (!(error instanceof DamagedCiphertext)) throw error;
      if (this.#first !== null) throw this.#both(error);
      this.#first = error;
    }
    await this.#fetchAgain();
    try {
      return await read(true);
    } catch (error) {
      throw error instanceof DamagedCiphertext ? this.#both(error) : error;
    }
  }

  /** Says that there was a second reading; nothing if there was none. */
  checks(sha256: string): CheckOutcome[] {
    return this.#first === null ? [] : [readTwiceCheck({ sha256, first: this.#first.message })];
  }

  /** The same for the reason of a failure that is about something else. */
  note(error: unknown): string {
    return this.#first === null || error instanceof DamagedCiphertext
      ? ""
      : `. The first reading of the stored backup was damaged (${this.#first.message}), the second was not`;
  }

  #both({ code, message }: DamagedCiphertext): DamagedCiphertext {
    const before = this.#first?.message ?? message;
    const same = before === message ? "" : `; the first time ${before}`;
    return new DamagedCiphertext(code, `${message}. It was read twice, and was damaged both times${same}`);
  }
}
