import { CouldNotRun } from "../../runs/could-not-run.ts";
import { RestoreTooLarge } from "./restore-too-large.ts";

/**
 * What holds the programs of a restore on this host:
 * - `unit`: the packaged sandbox unit: a user of its own, no network, no other files, limits of memory, processes, disk and time;
 * - `namespaces`: the same by namespaces that the agent makes: as root with another user, else with the agent's own and without its files;
 * - `user`: another user and limits for each process, nothing more;
 * - `none`: the agent's own user.
 */
export type IsolationLevel = "unit" | "namespaces" | "user" | "none";

const GIB = 1 << 30;
/** A database takes more room than its dump: indexes, row headers, sorting, the log of the restore itself. */
const TIMES_PLAINTEXT = 16;
const LEAST_DISK = 8 * GIB;
/** For a backup whose receipt does not say how large its plaintext is. */
const UNKNOWN_DISK = 256 * GIB;

/** How one restore is held, and what became of that. */
export class Confinement {
  readonly diskBytes: number;
  /** Null until a place was opened. */
  level: IsolationLevel | null = null;
  #reached: "disk" | "host" | null = null;

  /** Directories with programs of the customer's, which have to be seen where the restored data are. */
  readonly programs: readonly string[];

  /** `plaintextBytes`: of the dump as the maker signed it; null if it does not say. */
  constructor(plaintextBytes: number | null, programs: readonly string[] = []) {
    this.programs = programs;
    this.diskBytes =
      plaintextBytes === null ? UNKNOWN_DISK : Math.max(LEAST_DISK, TIMES_PLAINTEXT * plaintextBytes);
  }

  reach(limit: "disk" | "host"): void {
    this.#reached ??= limit;
  }

  /** @throws RestoreTooLarge, CouldNotRun `disk_full` */
  requireWithin(): void {
    const ended = this.whatEnded(null);
    if (ended instanceof Error) throw ended;
  }

  /** Why it broke: what its programs say of their end is of no use if a limit ended them. */
  whatEnded(otherwise: unknown): unknown {
    if (this.#reached === "disk") return new RestoreTooLarge(this.diskBytes);
    if (this.#reached === "host")
      return new CouldNotRun(
        "disk_full",
        "the scratch directory's file system is nearly full, and the restore was stopped: give it more room",
      );
    return otherwise;
  }
}
