import { createHash } from "node:crypto";
import type { Moment } from "./attributes.ts";

export interface TimesDigest {
  readonly count: number;
  /** SHA-256 in hex, over paths and times. */
  readonly sha256: string;
  /** The same in whole seconds. */
  readonly seconds: string;
  /** Whether each time is a whole second. */
  readonly isWhole: boolean;
}

const NANO = 1_000_000_000n;
/** What every file system can keep. Beyond it, each has limits of its own. */
const FIRST = -(2n ** 31n) * NANO;
const LAST = (2n ** 31n - 1n) * NANO;

/** When the files of a tree were last written. */
export class Times {
  readonly #exact = createHash("sha256");
  readonly #seconds = createHash("sha256");
  #count = 0;
  #isWhole = true;

  add(path: string, moment: Moment): void {
    const isFar = moment <= FIRST || moment >= LAST;
    const fraction = ((moment % NANO) + NANO) % NANO;
    if (!isFar && fraction !== 0n) this.#isWhole = false;
    this.#count += 1;
    this.#exact.update([path, isFar ? "far" : moment, ""].join("\0"), "latin1");
    this.#seconds.update([path, isFar ? "far" : (moment - fraction) / NANO, ""].join("\0"), "latin1");
  }

  finish(): TimesDigest {
    return {
      count: this.#count,
      sha256: this.#exact.digest("hex"),
      seconds: this.#seconds.digest("hex"),
      isWhole: this.#isWhole,
    };
  }
}
