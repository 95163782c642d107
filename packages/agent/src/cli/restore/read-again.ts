import type { StoredBackup } from "../../backends/backup-backend.ts";
import type { DamagedCiphertext } from "../../crypto/damaged.ts";
import { SecondReading } from "../../runs/second-reading.ts";
import type { ProgressLine } from "../terminal/progress-line.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * A restore reads a damaged backup a second time, as a restore test does, and says what that means.
 * `download` gets a stored backup again; absent for a file, which is read where it is.
 */
export class ReadAgain {
  readonly reading: SecondReading;
  readonly #terminal: Terminal;
  readonly #isStored: boolean;

  /** `line` shows how far the first reading came. */
  constructor(terminal: Terminal, line: ProgressLine, download?: () => Promise<void>) {
    this.#terminal = terminal;
    this.#isStored = download !== undefined;
    this.reading = new SecondReading(async ({ message }) => {
      line.clear();
      this.#warn(
        download === undefined
          ? `the file is damaged (${message}). It is read a second time, because its disk or this host's memory may have changed it on the way`
          : `the downloaded backup is damaged (${message}). It is downloaded a second time, because the store or the network may have changed it on the way`,
      );
      await download?.();
    });
  }

  /** After a restore that succeeded. */
  sayIfSecondWasRight(): void {
    if (this.reading.isSecond)
      this.#warn(
        this.#isStored
          ? "the second download was right: the store or the network gave other bytes the first time. Look at them and at this host's memory, before that happens to a backup on its way there"
          : "the second reading was right: the disk or the memory gave other bytes the first time. Look at them",
      );
  }

  /** Why nothing came of it, and what that means. `left`: what was made all the same. */
  sayDamaged({ message }: DamagedCiphertext, left: string): void {
    const { isSecond, isSameAgain } = this.reading;
    const what = isSecond && !isSameAgain ? "the backup came back damaged twice" : "the backup is damaged";
    const bad = this.#terminal.onTalk.bad("✗");
    this.#terminal.say(`${bad} ${what}${left}: ${message}. ${this.#meaning(isSecond, isSameAgain)}`);
  }

  #meaning(isSecond: boolean, isSameAgain: boolean): string {
    const other = this.#isStored ? "Another one: --backup ID" : "Take another copy or backup";
    if (!isSecond) return "It was not read a second time, because a part was written already. Try again";
    if (isSameAgain)
      return `The damage was the same both times, so ${this.#isStored ? "the stored backup" : "the file"} itself is damaged. ${other}`;
    const way = this.#isStored ? "the store, the network" : "the disk";
    return `The damage was different each time, so ${way} or this host's memory changes bytes: restore on another host. ${other}`;
  }

  #warn(text: string): void {
    this.#terminal.say(`${this.#terminal.onTalk.warn("!")} ${text}`);
  }
}

/** Downloads a stored backup into that file, each time it is called. */
export function downloadInto(
  path: string,
  backup: StoredBackup,
  line: ProgressLine,
  signal: AbortSignal,
): () => Promise<void> {
  return async () => {
    await backup.download(path, {
      signal,
      onProgress: (bytes, total) => line.update("download", bytes, total),
    });
    line.clear();
  };
}
