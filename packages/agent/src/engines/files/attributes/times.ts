import { createHash } from "node:crypto";
import type { Moment } from "../tar/attributes.ts";

export interface TimesDigest {
  readonly count: number;
  /** SHA-256 in hex, over paths and times. */
  readonly sha256: string;
  /** The same in whole seconds. */
  readonly seconds: string;
  /** The same with the times that some file systems cannot keep. */
  readonly archived: string;
  /** Whether each time is a whole second. */
  readonly isWhole: boolean;
}

const NANO = 1_000_000_000n;
/** Times that every file system can store. Beyond them, each has limits of its own. */
const FIRST = -(2n ** 31n) * NANO;
const LAST = (2n ** 31n - 1n) * NANO;

/** As texts. A time that some file systems cannot keep is only `far`. */
export function comparableTime(moment: Moment): {
  readonly exact: string;
  /** Without the fraction of a second. */
  readonly seconds: string;
  readonly isWhole: boolean;
} {
  if (moment <= FIRST || moment >= LAST) return { exact: "far", seconds: "far", isWhole: true };
  const fraction = ((moment % NANO) + NANO) % NANO;
  return { exact: String(moment), seconds: String((moment - fraction) / NANO), isWhole: fraction === 0n };
}

/** When the files of a tree were last written. */
export class Times {
  readonly #exact = createHash("sha256");
  readonly #seconds = createHash("sha256");
  readonly #archived = createHash("sha256");
  #count = 0;
  #isWhole = true;

  add(path: string, moment: Moment): void {
    const { exact, seconds, isWhole } = comparableTime(moment);
    if (!isWhole) this.#isWhole = false;
    this.#count += 1;
    this.#exact.update([path, exact, ""].join("\0"), "latin1");
    this.#seconds.update([path, seconds, ""].join("\0"), "latin1");
    this.#archived.update([path, moment, ""].join("\0"), "latin1");
  }

  finish(): TimesDigest {
    return {
      count: this.#count,
      sha256: this.#exact.digest("hex"),
      seconds: this.#seconds.digest("hex"),
      archived: this.#archived.digest("hex"),
      isWhole: this.#isWhole,
    };
  }
}
