import type { CheckOutcome } from "@attestore/proof";
import { readTwiceCheck } from "../checks/index.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";

/**
 * The store, a proxy or memory may have changed a bit on the way, once. So a backup counts as
 * damaged only if a second reading is damaged too. There is one second reading in a run, and none
 * if the first one is right.
 */
export class SecondReading {
  readonly #fetchAgain: (first: DamagedCiphertext) => Promise<void>;
  #first: DamagedCiphertext | null = null;
  #isSameAgain = false;

  /** `fetchAgain`: gets the ciphertext from where it is stored once more. */
  constructor(fetchAgain: (first: DamagedCiphertext) => Promise<void>) {
    this.#fetchAgain = fetchAgain;
  }

  /** Whether there was a second reading. */
  get isSecond(): boolean {
    return this.#first !== null;
  }

  /** Whether both readings found the same damage, so it is in what is stored. */
  get isSameAgain(): boolean {
    return this.#isSameAgain;
  }

  /**
   * What `read` returns, or returns the second time.
   * @param mayBeginAgain false once something was given away that nobody can take back
   * @throws DamagedCiphertext if it was damaged both times
   */
  async orAgain<Result>(
    read: (isSecond: boolean) => Promise<Result>,
    mayBeginAgain: () => boolean = () => true,
  ): Promise<Result> {
    try {
      return await read(false);
    } catch (error) {
      if (!(error instanceof DamagedCiphertext)) throw error;
      if (this.#first !== null) throw this.#both(error);
      if (!mayBeginAgain()) throw error;
      this.#first = error;
    }
    await this.#fetchAgain(this.#first);
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
    this.#isSameAgain = before === message;
    const first = this.#isSameAgain ? "" : `; the first time ${before}`;
    return new DamagedCiphertext(code, `${message}. It was read twice, and was damaged both times${first}`);
  }
}
