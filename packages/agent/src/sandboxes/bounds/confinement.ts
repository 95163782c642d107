import { totalmem } from "node:os";
import { formatBytes } from "@attestore/proof";
import { RunError } from "../../errors/run-error.ts";
import { RestoreTooLarge } from "./restore-too-large.ts";

/**
 * How the programs of a restore are confined on this host:
 * - `unit`: the packaged sandbox unit: its own user, no network, no other files, limits of memory,
 * processes, disk and time;
 * - `namespaces`: the same with namespaces that the agent makes: as root with another user,
 * otherwise with the agent's user and without its files;
 * - `user`: another user and limits for each process, nothing more;
 * - `none`: the agent's own user.
 */
export type IsolationLevel = "unit" | "namespaces" | "user" | "none";

/** Best first. */
const LEVELS: readonly IsolationLevel[] = ["unit", "namespaces", "user", "none"];

const GIB = 1 << 30;
/**
 * A database takes more room than its dump: indexes, row headers, sorting, the log of the restore
 * itself.
 */
const TIMES_PLAINTEXT = 16;
const LEAST_DISK = 8 * GIB;
/** For a backup whose receipt does not give the plaintext's size. */
const UNKNOWN_DISK = 256 * GIB;
/** Of the free space when the restore begins. */
const UNKNOWN_SHARE = 0.5;
/** As in the packaged unit. */
const MEMORY_SHARE = 0.8;

/**
 * `disk`: more than the maker's signed size explains. `host`: the free space of the file system.
 * `memory`: of this host.
 */
export type ReachedLimit = "disk" | "host" | "memory";

export interface ConfinementOptions {
  readonly programs?: readonly string[];
  /** As in config.yaml; null for what follows from the backup's size and the host's. */
  readonly restoreDisk?: number | null;
  readonly restoreMemory?: number | null;
}

/** How one restore is confined, and what became of it. */
export class Confinement {
  diskBytes: number;
  #filesBytes = 0;
  /** For all processes together, if they are counted. */
  readonly memoryBytes: number;
  #level: IsolationLevel | null = null;
  #reached: ReachedLimit | null = null;
  /** Nobody said how large it may become. */
  readonly #followsFromFree: boolean;

  /**
   * Directories with the customer's own programs, which must be visible where the restored data is.
   */
  readonly programs: readonly string[];

  /** `plaintextBytes`: the dump's size as its maker signed it; null if the receipt does not say. */
  constructor(
    plaintextBytes: number | null,
    { programs = [], restoreDisk = null, restoreMemory = null }: ConfinementOptions = {},
  ) {
    this.programs = programs;
    this.memoryBytes = restoreMemory ?? Math.floor(MEMORY_SHARE * totalmem());
    this.#followsFromFree = restoreDisk === null && plaintextBytes === null;
    this.diskBytes =
      restoreDisk ??
      (plaintextBytes === null ? UNKNOWN_DISK : Math.max(LEAST_DISK, TIMES_PLAINTEXT * plaintextBytes));
  }

  /** Such a file lies beside the restored data. Call this before the restore begins. */
  alsoHolds(bytes: number): void {
    this.diskBytes += bytes;
  }

  /**
   * All its files together have that many bytes, and holes take no room. To be said before the
   * restore begins.
   */
  mayHaveHoles(filesBytes: number): void {
    this.#filesBytes = filesBytes;
  }

  /** What one file may have, holes included. */
  get fileBytes(): number {
    return Math.max(this.diskBytes, this.#filesBytes);
  }

  /** `freeBytes`: free on the file system of the restore when it begins. */
  fitTo(freeBytes: number): void {
    if (this.#followsFromFree) this.diskBytes = Math.min(UNKNOWN_DISK, Math.floor(UNKNOWN_SHARE * freeBytes));
  }

  /** The weakest confinement of its programs so far; null before the first. */
  get level(): IsolationLevel | null {
    return this.#level;
  }

  heldBy(level: IsolationLevel): void {
    if (this.#level === null || LEVELS.indexOf(level) > LEVELS.indexOf(this.#level)) this.#level = level;
  }

  reach(limit: ReachedLimit): void {
    this.#reached ??= limit;
  }

  /** @throws RestoreTooLarge, RunError `disk_full` */
  requireWithin(): void {
    const ended = this.whatEnded(null);
    if (ended instanceof Error) throw ended;
  }

  /** Why it broke: if a limit ended its programs, their own account of it is of no use. */
  whatEnded(otherwise: unknown): unknown {
    // Free space depends on the host, and says nothing about the backup.
    if (this.#reached === "disk" && this.#followsFromFree)
      return new RunError(
        "disk_full",
        `the restore took more than ${formatBytes(this.diskBytes)}, half of the free space, and was stopped: give it more space, or set limits.restore_disk`,
      );
    if (this.#reached === "disk") return new RestoreTooLarge(this.diskBytes);
    if (this.#reached === "host")
      return new RunError(
        "disk_full",
        "the scratch directory's file system is nearly full, so the restore was stopped: give it more space",
      );
    if (this.#reached === "memory")
      return new RunError(
        "sandbox_failed",
        `the restore took more than ${formatBytes(this.memoryBytes)} of memory and was stopped: give the host more, or set limits.restore_memory`,
      );
    return otherwise;
  }
}
